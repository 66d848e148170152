package io.mintmark.identity;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;

import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.pkcs.RSAPrivateKey;
import org.bouncycastle.asn1.sec.ECPrivateKey;
import org.bouncycastle.asn1.sec.SECNamedCurves;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x9.X9ECParameters;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;
import org.bouncycastle.math.ec.ECPoint;
import org.bouncycastle.math.ec.FixedPointCombMultiplier;
import org.bouncycastle.openssl.PEMEncryptedKeyPair;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.pkcs.PKCS8EncryptedPrivateKeyInfo;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.StringReader;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.RSAPublicKeySpec;

/**
 * Reads a private key from the forms that openssl writes: PKCS#8 ({@code PRIVATE KEY}), SEC 1
 * ({@code EC PRIVATE KEY}, RFC 5915) and PKCS#1 ({@code RSA PRIVATE KEY}).
 */
public final class PrivateKeyPem {
    private static final int SHORTEST_RSA = 2048;

    private PrivateKeyPem() {}

    /** Why a text is no key that the broker can sign with: the end of a sentence about it. */
    public static final class UnfitException extends Exception {
        private static final long serialVersionUID = 1L;

        UnfitException(String why) {
            super(why);
        }
    }

    /** The key, with its public half. */
    public static JWK read(String pem) throws UnfitException {
        try (PEMParser parser = new PEMParser(new StringReader(pem))) {
            for (Object part = parser.readObject(); part != null; part = parser.readObject()) {
                PrivateKeyInfo key = privateKey(part);
                if (key != null) {
                    return jwk(key);
                }
            }
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            // The cause may quote the key, so it goes no further.
            throw new UnfitException("isn't a private key in PEM form");
        }
        throw new UnfitException("holds no private key in PEM form");
    }

    private static @Nullable PrivateKeyInfo privateKey(Object part) throws UnfitException {
        return switch (part) {
            case PrivateKeyInfo key -> key;
            case PEMKeyPair pair -> pair.getPrivateKeyInfo();
            case PKCS8EncryptedPrivateKeyInfo _, PEMEncryptedKeyPair _ ->
                    throw new UnfitException("is encrypted with a pass phrase");
            // openssl ecparam writes the curve before the key
            default -> null;
        };
    }

    private static JWK jwk(PrivateKeyInfo key)
            throws UnfitException, IOException, GeneralSecurityException {
        ASN1ObjectIdentifier kind = key.getPrivateKeyAlgorithm().getAlgorithm();
        if (kind.equals(X9ObjectIdentifiers.id_ecPublicKey)) {
            return p256(key);
        }
        if (kind.equals(PKCSObjectIdentifiers.rsaEncryption)) {
            return rsa(key);
        }
        throw new UnfitException("is neither a P-256 nor an RSA key");
    }

    private static JWK p256(PrivateKeyInfo key) throws UnfitException, IOException {
        if (!SECObjectIdentifiers.secp256r1.equals(
                key.getPrivateKeyAlgorithm().getParameters().toASN1Primitive())) {
            throw new UnfitException("is on another curve than P-256");
        }
        BigInteger d = ECPrivateKey.getInstance(key.parsePrivateKey()).getKey();
        ECPoint point = publicPoint(d);
        return new ECKey.Builder(
                        Curve.P_256,
                        ECKey.encodeCoordinate(256, point.getAffineXCoord().toBigInteger()),
                        ECKey.encodeCoordinate(256, point.getAffineYCoord().toBigInteger()))
                .d(ECKey.encodeCoordinate(256, d))
                .build();
    }

    /** Derived, because the public half is optional in the file, and could be another key's. */
    private static ECPoint publicPoint(BigInteger d) throws UnfitException {
        X9ECParameters curve = SECNamedCurves.getByOID(SECObjectIdentifiers.secp256r1);
        if (d.signum() <= 0 || d.compareTo(curve.getN()) >= 0) {
            throw new UnfitException("isn't a point on P-256");
        }
        return new FixedPointCombMultiplier().multiply(curve.getG(), d).normalize();
    }

    private static JWK rsa(PrivateKeyInfo key)
            throws UnfitException, IOException, GeneralSecurityException {
        RSAPrivateKey numbers = RSAPrivateKey.getInstance(key.parsePrivateKey());
        int bits = numbers.getModulus().bitLength();
        if (bits < SHORTEST_RSA) {
            throw new UnfitException(
                    "is an RSA key of %d bits, fewer than %d".formatted(bits, SHORTEST_RSA));
        }
        KeyFactory factory = KeyFactory.getInstance("RSA");
        RSAPublicKey published =
                (RSAPublicKey)
                        factory.generatePublic(
                                new RSAPublicKeySpec(
                                        numbers.getModulus(), numbers.getPublicExponent()));
        return new RSAKey.Builder(published)
                .privateKey(factory.generatePrivate(new PKCS8EncodedKeySpec(key.getEncoded())))
                .build();
    }
}
