package io.mintmark.broker.approval;

import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.tenant.TenantName;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Permits for the statements of tenants. A tenant holds at most half of them. All tenants with a
 * slow statement in the last minute hold at most half of them together, so the others find permits
 * however many tenants are slow.
 */
final class StatementPermits {
    static final int ALL = 4;
    static final int OF_TENANT = 2;

    /** The time after which a statement is slow. */
    static final Duration SLOW = Duration.ofSeconds(1);

    /** The time for which a tenant counts as slow after its statement has ended. */
    static final Duration REMEMBERED = Duration.ofMinutes(1);

    /** Empty is the owner for all slow tenants. */
    private final SharedPermits<Optional<TenantName>> permits = new SharedPermits<>(ALL, OF_TENANT);

    /** Until when a tenant is slow. Has no more entries than tenants were slow in a minute. */
    private final Map<TenantName, Long> slow = new ConcurrentHashMap<>();

    private final LongSupplier nanos;

    /**
     * @param nanos as {@link System#nanoTime}
     */
    StatementPermits(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /**
     * Takes a permit for a statement that begins now, and ends when the permit is closed.
     *
     * @return empty if none became free in time, or the thread was interrupted
     */
    Optional<SharedPermits.Permit> acquire(TenantName tenant, Duration timeout) {
        slow.values().removeIf(until -> until - nanos.getAsLong() <= 0);
        return permits.acquire(
                        slow.containsKey(tenant) ? Optional.empty() : Optional.of(tenant), timeout)
                .map(permit -> timed(permit, tenant));
    }

    private SharedPermits.Permit timed(SharedPermits.Permit permit, TenantName tenant) {
        long began = nanos.getAsLong();
        return () -> {
            long ended = nanos.getAsLong();
            if (ended - began > SLOW.toNanos()) {
                slow.put(tenant, ended + REMEMBERED.toNanos());
            }
            permit.close();
        };
    }

    /** The number of tenants that are remembered as slow. */
    int slowTenants() {
        return slow.size();
    }
}
