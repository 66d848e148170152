package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;

import java.time.Instant;
import java.util.Map;
import java.util.Set;

/**
 * The source of the catalogue. Each answer is one consistent state, as of one state. Every method
 * throws {@link io.mintmark.base.verdict.Unavailable} if it can't be read.
 */
public interface CatalogueStore {

    /**
     * That of the tables which belong to no tenant.
     *
     * @param readAt by the database's clock
     */
    record SharedState(StateId state, Instant readAt) {}

    /** The state of a tenant's own rows now; of one that doesn't exist, that before its first. */
    StateId state(TenantName tenant);

    /** The tenants whose current state differs from the known one. */
    Set<TenantName> changed(Map<TenantName, StateId> known);

    /** The state of the tables which belong to no tenant, now. */
    SharedState sharedState();

    /** The present rows of the tables that belong to no tenant. */
    SharedSnapshot shared();

    /**
     * What the tenant has now; nothing for one that is absent or disabled.
     *
     * @param most what it may weigh, in bytes; if it weighs more, it is too large
     */
    TenantSnapshot tenant(TenantName tenant, long most);

    /**
     * The enabled grants that name this subject exactly, and whether it is blocked by name.
     *
     * @param most what they may weigh, in bytes; if they weigh more, or are more than {@link
     *     SubjectGrants#MOST}, they are too large
     */
    SubjectGrants grants(TenantName tenant, IdpName idp, String subject, long most);
}
