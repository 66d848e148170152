package io.mintmark.grant;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;

import java.util.Map;
import java.util.Set;

/**
 * Where the catalogue is read from. Each answer is one consistent state, as of one state. Every
 * method throws {@link io.mintmark.verdict.Unavailable} if it can't be read.
 */
public interface CatalogueStore {

    /** The tenant's state now; of one that doesn't exist, that before its first change. */
    TenantState state(TenantName tenant);

    /** Those of the tenants whose state isn't this one any more. */
    Set<TenantName> changed(Map<TenantName, TenantState> known);

    /** What the tenant has now; nothing for one that is absent or disabled. */
    TenantSnapshot tenant(TenantName tenant);

    /** The enabled grants that name this subject exactly. */
    SubjectGrants grants(TenantName tenant, IdpName idp, String subject);
}
