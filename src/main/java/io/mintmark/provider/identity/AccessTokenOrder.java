package io.mintmark.provider.identity;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * An access token for a client, from the issuer of its tenant (RFC 9068).
 *
 * @param idp who vouched for the subject: subjects are unique only within an identity provider
 * @param subject the client's
 * @param audience the service that is to accept it
 * @param claims further claims, as JSON values; none of {@link ReservedClaims}
 * @param duration how long it lives; whole seconds
 * @param format signature and header
 * @param issuer of the broker's tokens for the tenant, if it came from another cell
 * @param act who acts for the subject: the claim {@code act} (RFC 8693 section 4.1)
 */
public record AccessTokenOrder(
        TenantName tenant,
        IdpName idp,
        MintId mintId,
        String subject,
        String audience,
        Map<String, Object> claims,
        Duration duration,
        Format format,
        Optional<String> issuer,
        Optional<Map<String, Object>> act) {

    /** The signature algorithms of the broker's keys. */
    public enum Algorithm {
        ES256,
        RS256
    }

    /**
     * What a service may require of a token besides its claims.
     *
     * @param algorithm of the signature; if empty, that of the broker's current key
     * @param type the header {@code typ}: {@code at+jwt} (RFC 9068), or {@code JWT} for services
     *     that accept nothing else
     */
    public record Format(Optional<Algorithm> algorithm, String type) {
        /** A token of RFC 9068 with the broker's usual signature. */
        public static final Format USUAL = new Format(Optional.empty(), "at+jwt");

        public Format {
            if (!type.equals("at+jwt") && !type.equals("JWT")) {
                throw new IllegalArgumentException(
                        "'%s' is not a token type of access tokens".formatted(type));
            }
        }
    }

    /** A token for a subject for which nobody acts. */
    public AccessTokenOrder(
            TenantName tenant,
            IdpName idp,
            MintId mintId,
            String subject,
            String audience,
            Map<String, Object> claims,
            Duration duration,
            Format format) {
        this(
                tenant,
                idp,
                mintId,
                subject,
                audience,
                claims,
                duration,
                format,
                Optional.empty(),
                Optional.empty());
    }

    public AccessTokenOrder {
        claims = Map.copyOf(claims);
        for (String name : claims.keySet()) {
            if (ReservedClaims.includes(name)) {
                throw new IllegalArgumentException(
                        "claim '%s' of an access token is reserved".formatted(name));
            }
        }
    }
}
