package io.mintmark.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.impl.BaseJWSProvider;
import com.nimbusds.jose.util.Base64URL;

import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;

/** EdDSA with Ed25519 (RFC 8037) by the JDK; the JOSE library's own would need Tink. */
final class Ed25519Verifier extends BaseJWSProvider implements JWSVerifier {
    /** What stands before the 32 bytes of a key in X.509's SubjectPublicKeyInfo (RFC 8410). */
    private static final byte[] PREFIX = HexFormat.of().parseHex("302a300506032b6570032100");

    private static final int KEY_BYTES = 32;

    private final PublicKey key;

    /** Takes the JWK's {@code x}, decoded. */
    Ed25519Verifier(byte[] x) throws GeneralSecurityException {
        super(Set.of(JWSAlgorithm.EdDSA));
        if (x.length != KEY_BYTES) {
            throw new InvalidKeyException("an Ed25519 key has 32 bytes");
        }
        byte[] encoded = Arrays.copyOf(PREFIX, PREFIX.length + KEY_BYTES);
        System.arraycopy(x, 0, encoded, PREFIX.length, KEY_BYTES);
        key = KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded));
    }

    @Override
    public boolean verify(JWSHeader header, byte[] signingInput, Base64URL signature)
            throws JOSEException {
        try {
            Signature verifier = Signature.getInstance("Ed25519");
            verifier.initVerify(key);
            verifier.update(signingInput);
            return verifier.verify(signature.decode());
        } catch (SignatureException e) {
            return false;
        } catch (GeneralSecurityException e) {
            throw new JOSEException("there is no Ed25519", e);
        }
    }
}
