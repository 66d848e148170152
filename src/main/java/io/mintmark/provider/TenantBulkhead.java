package io.mintmark.provider;

import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.limit.SharedPermits.Permit;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.MintResult.NotCalled;
import io.mintmark.provider.MintResult.NotCalled.Why;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Limits a tenant's concurrent calls to providers, so that one tenant's slow provider can't use up
 * the shared connections, threads and requests. Calls are served in order of arrival.
 *
 * <p>One provider gets at most three quarters of its tenant's calls, so that a slow one leaves some
 * to the others. A call waits for at most half of its time, because it needs the other half.
 * Tenants without calls use no memory.
 */
final class TenantBulkhead {
    /** The maximum number of one tenant's waiting calls. */
    static final int WAITING = 1024;

    private final Map<TenantName, Calls> tenants = new ConcurrentHashMap<>();
    private final InstantSource clock;

    TenantBulkhead(InstantSource clock) {
        this.clock = clock;
    }

    /** The number of a tenant's concurrent calls that may go to one provider. */
    static int ofProvider(int calls) {
        return Math.max(1, calls * 3 / 4);
    }

    /**
     * A call to be made by a deadline.
     *
     * @param maxCalls the maximum number of the tenant's concurrent calls
     */
    record Call(TenantName tenant, ProviderName provider, int maxCalls, Instant deadline) {}

    /** Makes a call as soon as there is a permit, or reports that there was none. */
    MintResult call(MintOrder order, Supplier<MintResult> call) {
        return call(
                new Call(order.tenant(), order.provider(), order.maxCalls(), order.deadline()),
                call,
                detail -> new NotCalled(Why.TENANT_BUSY, detail));
    }

    /**
     * Makes any call as soon as there is a permit.
     *
     * @param busy the result if there was no permit, of the reason
     */
    <T> T call(Call order, Supplier<T> call, Function<String, T> busy) {
        Calls calls =
                tenants.compute(
                        order.tenant(),
                        (_, there) ->
                                (there == null ? new Calls(order.maxCalls()) : there)
                                        .joined(order));
        try {
            return call(calls, order, call, busy);
        } finally {
            tenants.computeIfPresent(order.tenant(), (_, there) -> there.left() ? null : there);
        }
    }

    /** The number of a tenant's calls in flight or waiting. */
    int present(TenantName tenant) {
        Calls calls = tenants.get(tenant);
        return calls == null ? 0 : calls.present;
    }

    /** The number of tenants with calls. */
    int tenants() {
        return tenants.size();
    }

    private <T> T call(Calls calls, Call order, Supplier<T> call, Function<String, T> busy) {
        Optional<Permit> permit = calls.permits.acquire(order.provider(), Duration.ZERO);
        if (permit.isEmpty()) {
            if (!calls.waiting.tryAcquire()) {
                return busy.apply(
                        "%d provider calls of the tenant are already waiting".formatted(WAITING));
            }
            try {
                permit = calls.permits.acquire(order.provider(), half(order));
            } finally {
                calls.waiting.release();
            }
        }
        if (permit.isEmpty()) {
            return busy.apply(
                    Thread.currentThread().isInterrupted()
                            ? "the request was cancelled"
                            : calls.full(order.provider()));
        }
        try (Permit _ = permit.get()) {
            return call.get();
        }
    }

    private Duration half(Call order) {
        return Duration.between(clock.instant(), order.deadline()).dividedBy(2);
    }

    /**
     * The calls of one tenant. Fields that aren't final are changed only inside the map entry's
     * compute.
     */
    private static final class Calls {
        private final SharedPermits<ProviderName> permits;
        private final Semaphore waiting = new Semaphore(WAITING);
        private volatile int max;
        private volatile int present;

        Calls(int max) {
            this.max = max;
            this.permits = new SharedPermits<>(max, TenantBulkhead.ofProvider(max));
        }

        @SuppressWarnings("NonAtomicVolatileUpdate") // within the map's entry
        Calls joined(Call order) {
            if (order.maxCalls() != max) {
                max = order.maxCalls();
                permits.resize(max, TenantBulkhead.ofProvider(max));
            }
            present++;
            return this;
        }

        /** Notes that a call has left. Returns whether no other call of the tenant is present. */
        @SuppressWarnings("NonAtomicVolatileUpdate") // within the map's entry
        boolean left() {
            present--;
            return present == 0;
        }

        String full(ProviderName provider) {
            if (Thread.currentThread().isInterrupted()) {
                return "the request was cancelled";
            }
            return permits.available(provider) > 0
                    ? "the tenant has reached its limit of %d concurrent provider calls (max_calls)"
                            .formatted(max)
                    : "the tenant has reached its limit of %d concurrent calls to access provider '%s' (a share of max_calls)"
                            .formatted(TenantBulkhead.ofProvider(max), provider);
        }
    }
}
