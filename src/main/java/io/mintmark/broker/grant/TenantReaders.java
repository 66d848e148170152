package io.mintmark.broker.grant;

import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.limit.SharedPermits.Permit;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;

import java.time.Duration;
import java.util.function.LongFunction;

/**
 * Limits how many readers a tenant has, and how much memory they hold: at most two at a time, of
 * which one may read something large. A large result is read again with a permit for large reads,
 * of which there are few: no reader holds a connection, or what it has read, while it waits for
 * memory.
 */
final class TenantReaders {
    /** The maximum number of readers of something large, for all tenants together. */
    static final int LARGE = 3;

    private static final int READERS_OF_A_TENANT = 2;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /**
     * The time limit for a large tenant, which leaves time for the tenant's other reader and for
     * those of other tenants.
     */
    private static final Duration TIMEOUT_LARGE = TIMEOUT.multipliedBy(2);

    private static final Duration SOON = Duration.ofSeconds(1);

    private final CatalogueMemory memory;
    private final SharedPermits<TenantName> readers =
            SharedPermits.ofEachOwner(READERS_OF_A_TENANT);
    private final SharedPermits<TenantName> large = new SharedPermits<>(LARGE, 1);

    TenantReaders(CatalogueMemory memory) {
        this.memory = memory;
    }

    /**
     * Reads something of a tenant.
     *
     * @param reading takes the maximum size of its result in bytes
     * @throws Unavailable if there are too many readers for too long
     */
    <T extends Weighed> T read(TenantName tenant, LongFunction<T> reading) {
        try (Permit _ = permit(readers, tenant, TIMEOUT)) {
            T small = reading.apply(memory.small());
            return small.tooLarge() ? readLarge(tenant, reading) : small;
        }
    }

    private <T> T readLarge(TenantName tenant, LongFunction<T> reading) {
        try (Permit _ = permit(large, tenant, TIMEOUT_LARGE)) {
            return reading.apply(memory.large());
        }
    }

    private static Permit permit(
            SharedPermits<TenantName> permits, TenantName tenant, Duration timeout) {
        return permits.acquire(tenant, timeout)
                .orElseThrow(() ->
                        new Unavailable(
                                "Too many requests are reading rows of tenant '%s'; try again."
                                        .formatted(tenant),
                                SOON));
    }
}
