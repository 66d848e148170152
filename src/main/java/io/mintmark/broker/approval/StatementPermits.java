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
 * slow statement in the last hour hold at most half of them together, so the others find permits
 * however many tenants are slow.
 */
final class StatementPermits {
    static final int ALL = 4;
    static final int HALF = 2;

    /** The time after which a statement is slow. */
    static final Duration SLOW = Duration.ofSeconds(1);

    /** The time for which a tenant counts as slow after its statement has ended. */
    static final Duration REMEMBERED = Duration.ofHours(1);

    private final SharedPermits<TenantName> permits = new SharedPermits<>(ALL, HALF);

    /** The permits that a slow tenant needs as well. */
    private final SharedPermits<Boolean> ofSlow = new SharedPermits<>(HALF, HALF);

    /** Until when a tenant is slow. Has no more entries than tenants were slow in an hour. */
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
        long until = System.nanoTime() + timeout.toNanos();
        slow.values().removeIf(end -> end - nanos.getAsLong() <= 0);
        if (!slow.containsKey(tenant)) {
            return permits.acquire(tenant, timeout).map(permit -> timed(permit, tenant));
        }
        // First this one: while waiting for it, a slow tenant keeps no permit from the others.
        return ofSlow.acquire(true, timeout)
                .flatMap(second ->
                        permits.acquire(tenant, Duration.ofNanos(until - System.nanoTime()))
                                .map(first ->
                                        timed(
                                                () -> {
                                                    first.close();
                                                    second.close();
                                                },
                                                tenant))
                                .or(() -> {
                                    second.close();
                                    return Optional.empty();
                                }));
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
