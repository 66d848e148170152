package io.mintmark.broker.exchange;

import io.mintmark.base.limit.RateDecision;
import io.mintmark.base.limit.Windows;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.LimitRefusal;
import io.mintmark.base.verdict.Verdict;

import java.time.Duration;
import java.time.InstantSource;
import java.util.OptionalInt;
import java.util.function.LongSupplier;

/**
 * Counts the requests of each tenant that has a limit, in fixed windows of a minute, on this
 * replica. Only requests with a valid token count, so that nobody without one can exhaust a
 * tenant's limit.
 */
final class TenantRequests {
    private static final Duration WINDOW = Duration.ofMinutes(1);

    private final Windows<TenantName> windows;
    private final InstantSource clock;

    /**
     * @param clock says when windows end, for clients to read
     * @param nanoTime measures windows
     */
    TenantRequests(InstantSource clock, LongSupplier nanoTime) {
        this.clock = clock;
        this.windows = new Windows<>(WINDOW, nanoTime);
    }

    /** Counts a request of the token's tenant; refused if the tenant has no more left. */
    Verdict<Admitted> count(Admitted admitted) {
        OptionalInt most = admitted.entitlements().maxRequests();
        return most.isEmpty()
                ? Verdict.passed(admitted)
                : count(admitted, admitted.token().provider().tenant(), most.getAsInt());
    }

    private Verdict<Admitted> count(Admitted admitted, TenantName tenant, int most) {
        var window = windows.of(tenant);
        if (window.take(most) >= 0) {
            return Verdict.passed(admitted);
        }
        RateDecision denied = RateDecision.denied(most, WINDOW, clock.instant(), window.rest());
        return Verdict.refused(
                new LimitRefusal(
                        tenant.value(), most, WINDOW, denied.resetAt(), denied.retryAfter()));
    }
}
