package io.mintmark.broker.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.util.Base64URL;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The classic: a public key taken for a shared secret. */
final class Confusion {
    private Confusion() {}

    static Base64URL hmac(TestKey key, String input) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key.jwk().toRSAKey().toPublicKey().getEncoded(), "HMAC"));
            return Base64URL.encode(mac.doFinal(input.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException | JOSEException e) {
            throw new IllegalStateException(e);
        }
    }
}
