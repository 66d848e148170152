package io.mintmark.broker.token;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Identity providers without conditions, listed, with tokens by ES256. */
public final class TestProviders {
    private TestProviders() {}

    /** One whose keys are where its issuer says. */
    public static IdentityProvider of(
            String name, String tenant, String issuer, String... audiences) {
        KeySource source =
                new KeySource(issuer, Optional.empty(), Optional.empty(), Optional.empty());
        return of(name, tenant, source, Optional.empty(), false, audiences);
    }

    public static IdentityProvider of(
            String name,
            String tenant,
            KeySource source,
            Optional<Duration> maxTokenAge,
            boolean oneTimeTokens,
            String... audiences) {
        return new IdentityProvider(
                new IdpName(name),
                new TenantName(tenant),
                source.issuer(),
                List.of(audiences),
                source,
                Set.of("ES256"),
                Set.of(),
                ClaimConditions.NONE,
                Duration.ZERO,
                maxTokenAge,
                oneTimeTokens,
                Set.of(Role.SUBJECT),
                true,
                "");
    }
}
