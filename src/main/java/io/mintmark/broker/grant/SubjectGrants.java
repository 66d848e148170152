package io.mintmark.broker.grant;

import io.mintmark.base.tenant.TenantState;

import java.time.Instant;
import java.util.List;

/**
 * The enabled grants of one exact subject of one identity provider, and whether it is blocked.
 *
 * @param state the tenant's state in which they were read
 * @param blockedUntil the end of the last block of exactly this subject, in the tenant or in all,
 *     by the database's clock; {@link Instant#MAX} for one without an end, {@link Instant#MIN} for
 *     none
 * @param bytes their size on the heap
 * @param tooLarge whether there are more than may be read; the list is then empty
 */
public record SubjectGrants(
        TenantState state, List<Grant> grants, Instant blockedUntil, long bytes, boolean tooLarge)
        implements Weighed {
    /** The maximum number of a subject's grants in one tenant from one identity provider. */
    public static final int MOST = 1_000;

    public SubjectGrants {
        grants = List.copyOf(grants);
    }

    /** A subject that has more grants than may be read. It counts as blocked. */
    public static SubjectGrants tooLarge(TenantState state) {
        return new SubjectGrants(state, List.of(), Instant.MAX, 0, true);
    }
}
