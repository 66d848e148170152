package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.IdentityProvider;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * The configuration of an enabled tenant in one state, without the grants of exact subjects. Those
 * are read by subject ({@link SubjectGrants}), so that a tenant with a hundred thousand of them
 * costs no more than one with ten. It contains nothing of the tables that belong to no tenant, so
 * that a change of those doesn't reload it ({@link SharedSnapshot}).
 *
 * @param state of the tenant's own rows
 * @param externalId the tenant's AWS ExternalId
 * @param maxCalls the maximum number of its concurrent provider calls on this replica
 * @param maxRequests the maximum number of its requests a minute on this replica; empty for no
 *     limit
 * @param place where it is, if it moved from or to another cell
 * @param identityProviders the enabled ones
 * @param keys the enabled ones of enabled access providers
 * @param patterns the enabled grants whose subject is a glob
 * @param blocks the globs over subjects that are blocked in this tenant
 * @param accessRules the enabled rules by which subjects may ask for access, by their key
 * @param bytes its size on the heap
 * @param tooLarge whether the tenant has more than may be read; everything else is then empty
 */
public record TenantSnapshot(
        TenantName name,
        StateId state,
        UUID externalId,
        int maxCalls,
        OptionalInt maxRequests,
        Place place,
        Map<IdpName, IdentityProvider> identityProviders,
        Map<KeyName, Key> keys,
        GlobIndex<Grant> patterns,
        GlobIndex<BlockRule> blocks,
        Map<KeyName, List<AccessRule>> accessRules,
        long bytes,
        boolean tooLarge)
        implements Weighed {

    /**
     * Where a tenant is among cells.
     *
     * @param issuer of the broker's tokens for it; empty for the broker's own
     * @param movedTo the URL of the cell to which it moved; empty if it is here
     */
    public record Place(Optional<String> issuer, Optional<String> movedTo) {
        /** The place of a tenant that was never moved. */
        public static final Place HERE = new Place(Optional.empty(), Optional.empty());
    }

    public TenantSnapshot {
        identityProviders = Map.copyOf(identityProviders);
        keys = Map.copyOf(keys);
        accessRules = Map.copyOf(accessRules);
    }

    /** A tenant that is absent or disabled: no token is accepted and no key exists. */
    public static TenantSnapshot nothing(TenantName name, StateId state) {
        return empty(name, state, false);
    }

    /** A tenant whose rows exceed the limit of a read. */
    public static TenantSnapshot tooLarge(TenantName name, StateId state) {
        return empty(name, state, true);
    }

    private static TenantSnapshot empty(TenantName name, StateId state, boolean tooLarge) {
        return new TenantSnapshot(
                name,
                state,
                new UUID(0, 0),
                1,
                OptionalInt.empty(),
                Place.HERE,
                Map.of(),
                Map.of(),
                GlobIndex.of(List.of()),
                GlobIndex.of(List.of()),
                Map.of(),
                0,
                tooLarge);
    }
}
