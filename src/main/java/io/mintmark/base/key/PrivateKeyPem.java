package io.mintmark.base.key;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;

import org.jspecify.annotations.Nullable;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Reads a private key from the forms that openssl writes: PKCS#8 ({@code PRIVATE KEY}), SEC 1
 * ({@code EC PRIVATE KEY}, RFC 5915) and PKCS#1 ({@code RSA PRIVATE KEY}), and from OpenSSH's.
 */
public final class PrivateKeyPem {
    private static final int SHORTEST_RSA = 2048;
    private static final List<String> KINDS = List.of("EC", "RSA", "EdDSA");

    /** RFC 7468. There may be others before it: openssl ecparam writes the curve first. */
    private static final Pattern PRIVATE_KEY =
            Pattern.compile(
                    "-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----(.*?)-----END \\1PRIVATE KEY-----",
                    Pattern.DOTALL);

    private PrivateKeyPem() {}

    /** The reason why the broker can't sign with a key, as the end of a sentence about it. */
    public static final class UnfitException extends Exception {
        private static final long serialVersionUID = 1L;

        public UnfitException(String why) {
            super(why);
        }
    }

    /** The key, with its public half. */
    public static JWK read(String pem) throws UnfitException {
        return read(pem, PrivateKeyPem::jwk);
    }

    /** A key of a TLS server or a CA: RSA, on any curve of the JDK's, or EdDSA. */
    public static PrivateKey readAnyKind(String pem) throws UnfitException {
        return read(pem, PrivateKeyPem::ofAnyKind);
    }

    /** Converts a key in PKCS#8. */
    @FunctionalInterface
    private interface Reading<T> {
        T of(byte[] pkcs8) throws UnfitException, GeneralSecurityException;
    }

    private static <T> T read(String pem, Reading<T> reading) throws UnfitException {
        MatchResult found =
                PRIVATE_KEY
                        .matcher(pem)
                        .results()
                        .findFirst()
                        .orElseThrow(
                                () -> new UnfitException("contains no private key in PEM format"));
        try {
            return reading.of(
                    found.group(1).isEmpty()
                            ? Base64.getDecoder().decode(found.group(2).replaceAll("\\s", ""))
                            : OtherPrivateKeys.toPkcs8(found.group()));
        } catch (GeneralSecurityException | RuntimeException e) {
            // The cause may quote the key, so it goes no further.
            throw new UnfitException("is not a private key in PEM format");
        }
    }

    private static PrivateKey ofAnyKind(byte[] pkcs8)
            throws UnfitException, GeneralSecurityException {
        for (String algorithm : KINDS) {
            PrivateKey key = key(pkcs8, algorithm);
            if (key != null) {
                return key;
            }
        }
        OtherPrivateKeys.requireOne(pkcs8);
        throw new UnfitException("is neither an EC, nor an RSA, nor an EdDSA key");
    }

    private static JWK jwk(byte[] pkcs8) throws UnfitException, GeneralSecurityException {
        if (key(pkcs8, "EC") instanceof ECPrivateKey key) {
            return p256(key);
        }
        if (key(pkcs8, "RSA") instanceof RSAPrivateCrtKey key) {
            return rsa(key);
        }
        OtherPrivateKeys.requireOne(pkcs8);
        throw new UnfitException("is neither a P-256 nor an RSA key");
    }

    private static @Nullable PrivateKey key(byte[] pkcs8, String algorithm)
            throws GeneralSecurityException {
        try {
            return KeyFactory.getInstance(algorithm)
                    .generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
        } catch (InvalidKeySpecException e) {
            return null;
        }
    }

    /** The public half is derived: it is optional in the file, and could be another key's. */
    private static JWK p256(ECPrivateKey key) throws UnfitException, GeneralSecurityException {
        if (!Curve.P_256.equals(Curve.forECParameterSpec(key.getParams()))) {
            throw new UnfitException("must be a P-256 key");
        }
        return new ECKey.Builder(Curve.P_256, PublicPoint.of(key)).privateKey(key).build();
    }

    private static JWK rsa(RSAPrivateCrtKey key) throws UnfitException, GeneralSecurityException {
        int bits = key.getModulus().bitLength();
        if (bits < SHORTEST_RSA) {
            throw new UnfitException(
                    "is an RSA key of %d bits; the minimum is %d".formatted(bits, SHORTEST_RSA));
        }
        var half = new RSAPublicKeySpec(key.getModulus(), key.getPublicExponent());
        RSAPublicKey published = (RSAPublicKey) KeyFactory.getInstance("RSA").generatePublic(half);
        return new RSAKey.Builder(published).privateKey(key).build();
    }
}
