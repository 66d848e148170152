package io.mintmark.provider.githubapp;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;

import io.mintmark.base.key.PrivateKeyPem;
import io.mintmark.base.key.SigningKey;
import io.mintmark.base.outbound.Secret;

import java.time.Duration;
import java.time.Instant;
import java.util.Date;

/** A proof of identity that is signed with a private key of a tenant's, not with the broker's. */
public final class AppAssertion {
    /** The time by which a clock may run behind the broker's and still accept the assertion. */
    private static final Duration SKEW = Duration.ofMinutes(1);

    /**
     * The lifetime of an assertion, which is used at once. The minutes allow for a GitHub clock
     * that runs ahead of the broker's.
     */
    private static final Duration LIFETIME = Duration.ofMinutes(5);

    private AppAssertion() {}

    /**
     * An RS256 assertion that is valid from a minute ago, for five minutes from now.
     *
     * @param key an RSA key of at least 2048 bits
     * @param id its {@code jti}
     * @throws PrivateKeyPem.UnfitException if it is another kind of key; the message is the end of
     *     a sentence about it
     */
    public static Secret rs256(JWK key, String issuer, String id, Instant now)
            throws PrivateKeyPem.UnfitException {
        if (!(key instanceof RSAKey)) {
            throw new PrivateKeyPem.UnfitException("isn't an RSA key");
        }
        return SigningKey.of(key)
                .sign(
                        JOSEObjectType.JWT,
                        new JWTClaimsSet.Builder()
                                .issuer(issuer)
                                .issueTime(Date.from(now.minus(SKEW)))
                                .expirationTime(Date.from(now.plus(LIFETIME)))
                                .jwtID(id)
                                .build());
    }
}
