package io.mintmark.provider.identity;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * What a token of the broker's identity is for.
 *
 * @param holder the part of the tenant that the token is for, {@code key:<name>} or {@code
 *     provider:<name>}; the {@code sub} of a token has it after the tenant
 * @param audience who is to accept it
 * @param rs256Only whether the provider verifies no other signatures (Microsoft Entra does not)
 * @param extraClaims claims beside the broker's own, as JSON values; none of {@link
 *     ReservedClaims#ownsByStandard}
 * @param lifetime how long the token is valid; at most one hour, usually five minutes. Identities
 *     that do not make their tokens themselves ignore it
 * @param issuer of a tenant that came from another cell; empty for the broker's own
 */
public record TokenOrder(
        TenantName tenant,
        String holder,
        MintId mintId,
        String audience,
        boolean rs256Only,
        Map<String, Object> extraClaims,
        Duration lifetime,
        Optional<String> issuer) {
    /** The longest lifetime of a broker token. */
    public static final Duration LONGEST = Duration.ofHours(1);

    private static final Duration USUAL = Duration.ofMinutes(5);

    public TokenOrder {
        if (!lifetime.isPositive() || lifetime.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "a token of the broker can't be valid for %s".formatted(lifetime));
        }
        extraClaims = Map.copyOf(extraClaims);
        for (String name : extraClaims.keySet()) {
            if (ReservedClaims.ownsByStandard(name)) {
                throw new IllegalArgumentException(
                        "only the broker may set the claim '%s' of its tokens".formatted(name));
            }
        }
    }

    /** An order for a token of the broker's own issuer. */
    public TokenOrder(
            TenantName tenant,
            String holder,
            MintId mintId,
            String audience,
            boolean rs256Only,
            Map<String, Object> extraClaims,
            Duration lifetime) {
        this(tenant, holder, mintId, audience, rs256Only, extraClaims, lifetime, Optional.empty());
    }

    /** An order for a token with the usual lifetime. */
    public TokenOrder(
            TenantName tenant,
            KeyName key,
            MintId mintId,
            String audience,
            boolean rs256Only,
            Map<String, Object> extraClaims) {
        this(tenant, "key:" + key, mintId, audience, rs256Only, extraClaims, USUAL);
    }

    /** An order for a token that ends a mint of an access provider. */
    public static TokenOrder ending(
            TenantName tenant,
            ProviderName provider,
            MintId mintId,
            String audience,
            Map<String, Object> extraClaims) {
        return new TokenOrder(
                tenant, "provider:" + provider, mintId, audience, false, extraClaims, USUAL);
    }

    /** Orders a token of this issuer instead. */
    public TokenOrder of(Optional<String> own) {
        return new TokenOrder(
                tenant, holder, mintId, audience, rs256Only, extraClaims, lifetime, own);
    }

    /** Orders a token that is valid for no longer than this. */
    public TokenOrder livingAtMost(Duration time) {
        return living(time.compareTo(lifetime) < 0 ? time : lifetime);
    }

    /** Orders a token of exactly this lifetime. */
    public TokenOrder living(Duration time) {
        return new TokenOrder(
                tenant, holder, mintId, audience, rs256Only, extraClaims, time, issuer);
    }
}
