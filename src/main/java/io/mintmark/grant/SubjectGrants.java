package io.mintmark.grant;

import io.mintmark.tenant.TenantState;

import java.time.Instant;
import java.util.List;

/**
 * The enabled grants of one exact subject of one identity provider, and whether it is blocked.
 *
 * @param state the tenant's, in which they were read
 * @param blockedUntil the end of the last block of exactly this subject, in the tenant or in all,
 *     by the database's clock; {@link Instant#MAX} for one without an end, {@link Instant#MIN} for
 *     none
 * @param bytes how much text they were read from
 */
public record SubjectGrants(
        TenantState state, List<Grant> grants, Instant blockedUntil, int bytes) {
    public SubjectGrants {
        grants = List.copyOf(grants);
    }
}
