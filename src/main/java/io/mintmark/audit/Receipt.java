package io.mintmark.audit;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;

import java.util.Map;

/**
 * Rows are committed.
 *
 * @param states of the tenants for which an intent was recorded, read after the commit
 * @param asOf {@link System#nanoTime} before the commit began
 */
public record Receipt(Map<TenantName, TenantState> states, long asOf) {
    public Receipt {
        states = Map.copyOf(states);
    }

    /** The state of the tenant's configuration after the commit. */
    public TenantState state(TenantName tenant) {
        TenantState state = states.get(tenant);
        if (state == null) {
            throw new IllegalArgumentException(
                    "the commit has no row of tenant '%s'".formatted(tenant));
        }
        return state;
    }
}
