package io.mintmark.broker.exchange;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.LimitRefusal;
import io.mintmark.base.verdict.Verdict;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Counts the requests of each tenant that has a limit, in fixed windows of a minute, on this
 * replica. Only requests with a valid token count, so that nobody without one can exhaust a
 * tenant's limit.
 */
final class TenantRequests {
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final long NANOS_A_SECOND = 1_000_000_000;

    private final Map<TenantName, Window> windows = new ConcurrentHashMap<>();
    private final InstantSource clock;
    private final LongSupplier nanoTime;

    /** A tenant's running window; a request over the limit counts as the first one over it. */
    private record Window(long end, int requests) {}

    /**
     * @param clock says when windows end, for clients to read
     * @param nanoTime measures windows
     */
    TenantRequests(InstantSource clock, LongSupplier nanoTime) {
        this.clock = clock;
        this.nanoTime = nanoTime;
    }

    /** Counts a request of the token's tenant; refused if the tenant has no more left. */
    Verdict<Admitted> count(Admitted admitted) {
        OptionalInt most = admitted.entitlements().maxRequests();
        return most.isEmpty()
                ? Verdict.passed(admitted)
                : count(admitted, admitted.token().provider().tenant(), most.getAsInt());
    }

    private Verdict<Admitted> count(Admitted admitted, TenantName tenant, int most) {
        long now = nanoTime.getAsLong();
        Window window = windows.compute(tenant, (_, running) -> counted(running, now, most));
        if (window.requests <= most) {
            return Verdict.passed(admitted);
        }
        long seconds = Math.max(1, Math.ceilDiv(window.end - now, NANOS_A_SECOND));
        Duration rest = Duration.ofSeconds(seconds);
        return Verdict.refused(
                new LimitRefusal(tenant.value(), most, WINDOW, clock.instant().plus(rest), rest));
    }

    private static Window counted(@Nullable Window running, long now, int most) {
        return running == null || now - running.end >= 0
                ? new Window(now + WINDOW.toNanos(), 1)
                : new Window(running.end, Math.min(running.requests, most) + 1);
    }
}
