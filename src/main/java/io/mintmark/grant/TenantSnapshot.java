package io.mintmark.grant;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;
import io.mintmark.token.IdentityProvider;

import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * What an enabled tenant has, in one state, but for the grants of exact subjects: those are read
 * subject by subject ({@link SubjectGrants}), so that a tenant with a hundred thousand of them
 * costs no more than one with ten.
 *
 * @param externalId the tenant's AWS ExternalId
 * @param maxCalls how many calls of access providers it may have under way on this replica
 * @param identityProviders the enabled ones
 * @param keys the enabled ones of enabled access providers
 * @param patterns the enabled grants whose subject is a glob
 * @param bytes how much text it was read from
 */
public record TenantSnapshot(
        TenantName name,
        TenantState state,
        UUID externalId,
        int maxCalls,
        Map<IdpName, IdentityProvider> identityProviders,
        Map<KeyName, Key> keys,
        PatternGrants patterns,
        int bytes) {

    public TenantSnapshot {
        identityProviders = Map.copyOf(identityProviders);
        keys = Map.copyOf(keys);
    }

    /** A tenant that is absent or disabled: nobody is believed and nothing is there. */
    public static TenantSnapshot nothing(TenantName name, TenantState state) {
        return new TenantSnapshot(
                name, state, new UUID(0, 0), 1, Map.of(), Map.of(), PatternGrants.of(List.of()), 0);
    }
}
