package io.mintmark.base.pkcs11;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jose.jwk.AsymmetricJWK;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.config.Pkcs11Settings;
import io.mintmark.base.config.Pkcs11Uri;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.key.SigningKey;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Signature;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Keys in a real token, Debian's SoftHSM. */
class Pkcs11ModuleIT {
    private static final byte[] TEXT = "text".getBytes(StandardCharsets.UTF_8);

    private final SoftHsm hsm = SoftHsm.token();
    @AutoClose private final Pkcs11Module module = Pkcs11Module.open(settings(Map.of()));

    private Pkcs11Settings settings(Map<String, String> further) {
        Map<String, String> environment = new HashMap<>(hsm.settings());
        environment.putAll(further);
        return new SettingsReader(environment, Path.of("nowhere")).pkcs11().orElseThrow();
    }

    private TokenKey key(String uri) {
        return module.key(Pkcs11Uri.parse(uri));
    }

    private static boolean verifies(TokenKey key, String algorithm) throws Exception {
        Signature signing = Signature.getInstance(algorithm);
        signing.initSign(key);
        signing.update(TEXT);
        byte[] signature = signing.sign();
        Signature verifying = Signature.getInstance(algorithm);
        verifying.initVerify(key.publicKey());
        verifying.update(TEXT);
        return verifying.verify(signature);
    }

    @Test
    void keys_of_both_kinds_sign_and_never_leave_the_token() throws Exception {
        TokenKey p256 = key(hsm.p256("signs-ec"));
        TokenKey rsa = key(hsm.rsa("signs-rsa"));
        assertTrue(verifies(p256, "SHA256withECDSA"));
        assertTrue(verifies(rsa, "SHA256withRSA"));
        assertTrue(verifies(rsa, "SHA512withRSA"));
        assertNull(p256.getEncoded());
        assertNull(rsa.getFormat());
    }

    @Test
    void an_ed25519_key_signs_notes_and_nothing_else() throws Exception {
        String uri = hsm.ed25519("signs-ed");
        assertTrue(verifies(module.ed25519(Pkcs11Uri.parse(uri)), "Ed25519"));
        assertEquals(
                uri + " is neither a P-256 nor an RSA key",
                assertThrows(TokenUnavailable.class, () -> key(uri)).getMessage());
        Pkcs11Uri p256 = Pkcs11Uri.parse(hsm.p256("no-ed"));
        assertEquals(
                p256 + " must be an Ed25519 key",
                assertThrows(TokenUnavailable.class, () -> module.ed25519(p256)).getMessage());
    }

    @Test
    void tokens_of_the_broker_are_signed_with_them() throws Exception {
        for (String uri : List.of(hsm.p256("jws-ec"), hsm.rsa("jws-rsa"))) {
            SigningKey key = SigningKey.of(key(uri).jwk());
            SignedJWT token =
                    SignedJWT.parse(
                            key.sign(
                                            JOSEObjectType.JWT,
                                            new JWTClaimsSet.Builder().subject("s").build())
                                    .reveal());
            assertTrue(
                    token.verify(
                            new DefaultJWSVerifierFactory()
                                    .createJWSVerifier(
                                            token.getHeader(),
                                            ((AsymmetricJWK) key.published()).toPublicKey())));
        }
    }

    @Test
    void many_sign_at_once() throws Exception {
        TokenKey key = key(hsm.p256("many"));
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Boolean>> results = new ArrayList<>();
            for (int i = 0; i < LibraryCalls.CALLERS_OF_OWNER; i++) {
                results.add(threads.submit(() -> verifies(key, "SHA256withECDSA")));
            }
            for (Future<Boolean> result : results) {
                assertTrue(result.get());
            }
        }
    }

    @Test
    void a_key_is_found_by_its_id_too() {
        TokenKey byLabel = key(hsm.p256("by-id"));
        String id = "%08x".formatted("by-id".hashCode()).replaceAll("(..)", "%$1");
        assertEquals(byLabel.publicKey(), key("pkcs11:id=" + id).publicKey());
    }

    @Test
    void what_is_wrong_names_the_key() {
        hsm.pair("short", "rsa:1024");
        hsm.pair("p384", "EC:secp384r1");
        hsm.p256("twice");
        hsm.pair("twice", "EC:prime256v1");
        Map.of(
                        "pkcs11:object=absent",
                        "pkcs11:object=absent: the PKCS#11 token has no such private key",
                        "pkcs11:object=twice",
                        "pkcs11:object=twice: the PKCS#11 token has several such private keys; add id= to the URI to choose one",
                        "pkcs11:object=short",
                        "pkcs11:object=short is an RSA key of 1024 bits; the minimum is 2048",
                        "pkcs11:object=p384",
                        "pkcs11:object=p384 must be a P-256 key",
                        "pkcs11:token=other;object=x",
                        "the PKCS#11 library has no token 'other'; its tokens: [mintmark]")
                .forEach((uri, message) ->
                        assertEquals(
                                message,
                                assertThrows(TokenUnavailable.class, () -> key(uri)).getMessage()));
    }

    @Test
    void a_token_that_is_removed_is_named_and_used_again_when_it_is_back() throws Exception {
        TokenKey key = key(hsm.p256("removed"));
        assertTrue(verifies(key, "SHA256withECDSA"));
        try (var _ = hsm.removed()) {
            String message =
                    assertThrows(TokenUnavailable.class, () -> verifies(key, "SHA256withECDSA"))
                            .getMessage();
            assertTrue(message.contains("mintmark"), message);
        }
        Eventually.holds(() -> isUsable(key));
    }

    /** The library looks for its tokens again every two seconds. */
    private static boolean isUsable(TokenKey key) {
        try {
            return verifies(key, "SHA256withECDSA");
        } catch (Exception e) {
            return false;
        }
    }

    @Test
    void a_key_that_was_replaced_is_refused_until_it_is_looked_up_again() throws Exception {
        TokenKey old = key(hsm.p256("replaced"));
        assertTrue(verifies(old, "SHA256withECDSA"));
        hsm.delete("replaced");
        var _ = key(hsm.p256("replaced"));
        String message =
                assertThrows(TokenUnavailable.class, () -> verifies(old, "SHA256withECDSA"))
                        .getMessage();
        assertEquals(
                "pkcs11:token=mintmark;object=replaced: the PKCS#11 token now has a different key from the one that the broker published",
                message);
        TokenKey after = key("pkcs11:token=mintmark;object=replaced");
        assertTrue(verifies(after, "SHA256withECDSA"));
        assertNotEquals(old.publicKey(), after.publicKey());
    }

    @Test
    void a_pin_that_was_refused_is_not_tried_again_until_its_file_changes() throws Exception {
        String uri = hsm.p256("pin");
        Path wrong = Files.writeString(Files.createTempFile("pin", ""), "9999");
        try (Pkcs11Module other =
                Pkcs11Module.open(settings(Map.of("PKCS11_PIN_FILE", wrong.toString())))) {
            assertEquals(
                    "the PKCS#11 token rejected the PIN in PKCS11_PIN_FILE: correct the PIN in"
                            + " that file",
                    assertThrows(TokenUnavailable.class, () -> other.key(Pkcs11Uri.parse(uri)))
                            .getMessage());
            Files.writeString(wrong, "1234");
            assertEquals(key(uri).publicKey(), other.key(Pkcs11Uri.parse(uri)).publicKey());
        }
    }

    @Test
    void a_file_that_is_no_library_is_named() {
        Map<String, String> wrong = Map.of("PKCS11_MODULE", hsm.pinFile().toString());
        String message =
                assertThrows(TokenUnavailable.class, () -> Pkcs11Module.open(settings(wrong)))
                        .getMessage();
        assertTrue(
                message.startsWith(
                        "PKCS11_MODULE: can't load the PKCS#11 library '%s'"
                                .formatted(hsm.pinFile())),
                message);
    }
}
