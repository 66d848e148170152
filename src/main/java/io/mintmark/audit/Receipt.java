package io.mintmark.audit;

import io.mintmark.tenant.TenantName;

import java.util.Map;

/**
 * Rows are committed.
 *
 * @param revisions of the tenants for which an intent was recorded, read after the commit
 */
public record Receipt(Map<TenantName, Long> revisions) {
    public Receipt {
        revisions = Map.copyOf(revisions);
    }

    /** The tenant's revision after the commit. */
    public long revision(TenantName tenant) {
        Long revision = revisions.get(tenant);
        if (revision == null) {
            throw new IllegalArgumentException("no intent of tenant '%s'".formatted(tenant));
        }
        return revision;
    }
}
