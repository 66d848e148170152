package io.mintmark.grant;

import io.mintmark.tenant.TenantState;

import java.util.List;

/**
 * The enabled grants of one exact subject of one identity provider.
 *
 * @param state the tenant's, in which they were read
 * @param bytes how much text they were read from
 */
public record SubjectGrants(TenantState state, List<Grant> grants, int bytes) {
    public SubjectGrants {
        grants = List.copyOf(grants);
    }
}
