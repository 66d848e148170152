package io.mintmark.base.key;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.pkcs11.TokenUnavailable;

import org.jspecify.annotations.Nullable;

import java.security.SecureRandom;
import java.text.ParseException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A private key of the broker's, together with what the providers check its signatures with. */
public final class SigningKey {
    /**
     * The source of randomness for all signatures. Without it, the library makes the JDK look for a
     * new source each time.
     */
    private static final SecureRandom RANDOM = new SecureRandom();

    private final JWK key;
    private final JWK published;
    private final JWSAlgorithm algorithm;
    private final Map<JOSEObjectType, JWSHeader> headers = new ConcurrentHashMap<>();
    private volatile @Nullable JWSSigner signer;

    private SigningKey(JWK key, JWK published, JWSAlgorithm algorithm) {
        this.key = key;
        this.published = published;
        this.algorithm = algorithm;
    }

    /**
     * A key to sign with.
     *
     * @param key a P-256 key, which signs ES256, or an RSA key, which signs RS256
     */
    public static SigningKey of(JWK key) {
        try {
            return switch (key) {
                case ECKey ec ->
                        new SigningKey(
                                ec,
                                new ECKey.Builder(ec.toPublicJWK())
                                        .keyIDFromThumbprint()
                                        .keyUse(KeyUse.SIGNATURE)
                                        .algorithm(JWSAlgorithm.ES256)
                                        .build(),
                                JWSAlgorithm.ES256);
                case RSAKey rsa ->
                        new SigningKey(
                                rsa,
                                new RSAKey.Builder(rsa.toPublicJWK())
                                        .keyIDFromThumbprint()
                                        .keyUse(KeyUse.SIGNATURE)
                                        .algorithm(JWSAlgorithm.RS256)
                                        .build(),
                                JWSAlgorithm.RS256);
                default -> throw new IllegalArgumentException("no " + key.getKeyType() + " keys");
            };
        } catch (JOSEException e) {
            throw new IllegalArgumentException("signing with the key failed", e);
        }
    }

    /** The RFC 7638 thumbprint of the public key. */
    public String id() {
        return published.getKeyID();
    }

    public JWSAlgorithm algorithm() {
        return algorithm;
    }

    /** The public half. */
    public JWK published() {
        return published;
    }

    /**
     * Signs a token.
     *
     * @throws TokenUnavailable if the key is in a token that doesn't sign now
     */
    public Secret sign(JOSEObjectType type, JWTClaimsSet claims) {
        var token = new SignedJWT(headers.computeIfAbsent(type, this::header), claims);
        try {
            token.sign(signer());
        } catch (JOSEException e) {
            if (e.getCause() instanceof TokenUnavailable why) {
                throw why;
            }
            throw new IllegalStateException("signing with the key %s failed".formatted(id()), e);
        }
        return new Secret(token.serialize());
    }

    /**
     * Returns the header of a type. A parsed header keeps its text, and needs no serialization for
     * each token.
     */
    private JWSHeader header(JOSEObjectType type) {
        var header = new JWSHeader.Builder(algorithm).type(type).keyID(id()).build();
        try {
            return JWSHeader.parse(header.toBase64URL());
        } catch (ParseException e) {
            throw new IllegalStateException(
                    "a JWS header that the broker wrote can't be parsed", e);
        }
    }

    /** Made at the first signature: by then it is decided whose code signs in this process. */
    private JWSSigner signer() throws JOSEException {
        JWSSigner made = signer;
        if (made == null) {
            made = key instanceof ECKey ec ? new ECDSASigner(ec) : new RSASSASigner(key.toRSAKey());
            made.getJCAContext().setSecureRandom(RANDOM);
            signer = made;
        }
        return made;
    }

    @Override
    public String toString() {
        return "%s key %s".formatted(algorithm, id());
    }
}
