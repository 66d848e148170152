package io.mintmark.grant;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.TenantName;

/**
 * Where the catalogue is read from. Each answer is one consistent state, as of one revision. Every
 * method throws {@link io.mintmark.verdict.Unavailable} if it can't be read.
 */
public interface CatalogueStore {

    /** The tenant's revision now; 0 for one that doesn't exist. */
    long revision(TenantName tenant);

    /** What the tenant has now; nothing for one that is absent or disabled. */
    TenantSnapshot tenant(TenantName tenant);

    /** The enabled grants that name this subject exactly. */
    SubjectGrants grants(TenantName tenant, IdpName idp, String subject);
}
