package io.mintmark.identity;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.MintId;
import io.mintmark.tenant.TenantName;

import java.time.Duration;
import java.util.Map;

/**
 * An access token for a client, from the issuer of its tenant (RFC 9068).
 *
 * @param idp who vouched for the subject: subjects are unique only within an identity provider
 * @param subject the client's
 * @param audience the service that is to accept it
 * @param claims further claims, as JSON values; none of {@link ReservedClaims}
 * @param duration how long it lives; whole seconds
 */
public record AccessTokenOrder(
        TenantName tenant,
        IdpName idp,
        MintId mintId,
        String subject,
        String audience,
        Map<String, Object> claims,
        Duration duration) {

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
