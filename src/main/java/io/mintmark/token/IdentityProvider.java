package io.mintmark.token;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.TenantName;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An enabled row of {@code broker.identity_provider} of an enabled tenant.
 *
 * @param issuer compared exactly with the {@code iss} claim
 * @param audiences at least one; with the issuer each belongs to this provider alone
 * @param algorithms JWS algorithm names (RFC 7518 section 3.1, RFC 8037)
 * @param clockSkew how far the issuer's clock may be off; zero or more
 * @param maxTokenAge how long after {@code iat} a token is accepted, if that is limited
 * @param oneTimeTokens whether a {@code jti} works once
 * @param listed whether strangers may know of this provider
 */
public record IdentityProvider(
        IdpName name,
        TenantName tenant,
        String issuer,
        List<String> audiences,
        KeySource keys,
        Set<String> algorithms,
        ClaimConditions requiredClaims,
        Duration clockSkew,
        Optional<Duration> maxTokenAge,
        boolean oneTimeTokens,
        boolean listed) {

    public IdentityProvider {
        audiences = List.copyOf(audiences);
        algorithms = Set.copyOf(algorithms);
    }
}
