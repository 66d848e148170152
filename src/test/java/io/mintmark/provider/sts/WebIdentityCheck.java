package io.mintmark.provider.sts;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jose.jwk.AsymmetricJWK;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import org.jspecify.annotations.Nullable;

import java.text.ParseException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Verifies the broker's token as a provider does that has been told the issuer and an audience,
 * with the keys that the issuer publishes at this moment.
 */
public final class WebIdentityCheck {
    private static final Set<JWSAlgorithm> ALGORITHMS =
            Set.of(JWSAlgorithm.RS256, JWSAlgorithm.ES256);

    private final FarKeys keys;
    private final String issuer;
    private final String audience;
    private final InstantSource clock;

    /** The keys that a provider knows of the issuer. */
    public interface FarKeys {
        @Nullable JWK find(String kid) throws ParseException;
    }

    public WebIdentityCheck(
            Supplier<String> keySet, String issuer, String audience, InstantSource clock) {
        this(kid -> JWKSet.parse(keySet.get()).getKeyByKeyId(kid), issuer, audience, clock);
    }

    WebIdentityCheck(FarKeys keys, String issuer, String audience, InstantSource clock) {
        this.keys = keys;
        this.issuer = issuer;
        this.audience = audience;
        this.clock = clock;
    }

    public JWTClaimsSet verify(String token) throws StsRefusal {
        try {
            SignedJWT parsed = SignedJWT.parse(token);
            if (!ALGORITHMS.contains(parsed.getHeader().getAlgorithm())) {
                throw StsRefusal.identity("The algorithm of the token is not supported");
            }
            if (!isSigned(parsed)) {
                throw StsRefusal.identity("The token's signature is not valid");
            }
            return checked(parsed.getJWTClaimsSet());
        } catch (ParseException | JOSEException e) {
            throw StsRefusal.identity("The ID Token provided is not a valid JWT.");
        }
    }

    private boolean isSigned(SignedJWT token) throws ParseException, JOSEException, StsRefusal {
        JWK key = keys.find(token.getHeader().getKeyID());
        if (!(key instanceof AsymmetricJWK known) || key.isPrivate()) {
            throw StsRefusal.identity("No key of the issuer has the token's kid");
        }
        return token.verify(
                new DefaultJWSVerifierFactory()
                        .createJWSVerifier(token.getHeader(), known.toPublicKey()));
    }

    private JWTClaimsSet checked(JWTClaimsSet claims) throws StsRefusal {
        if (!issuer.equals(claims.getIssuer())) {
            throw StsRefusal.identity("No OpenIDConnect provider found for " + claims.getIssuer());
        }
        if (!claims.getAudience().contains(audience)) {
            throw StsRefusal.identity("Incorrect token audience");
        }
        if (claims.getSubject() == null || claims.getIssueTime() == null) {
            throw StsRefusal.identity("Missing a required claim");
        }
        if (claims.getExpirationTime() == null) {
            throw StsRefusal.identity("Missing a required claim");
        }
        Instant expiry = claims.getExpirationTime().toInstant();
        Instant now = clock.instant();
        if (!expiry.isAfter(now)) {
            throw new StsRefusal(400, "ExpiredTokenException", "Token expired: " + expiry);
        }
        if (claims.getNotBeforeTime() != null
                && claims.getNotBeforeTime().toInstant().isAfter(now)) {
            throw StsRefusal.identity("The token is not valid yet");
        }
        return claims;
    }
}
