package io.mintmark.provider;

import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.MintResult.NotCalled;
import io.mintmark.provider.MintResult.NotCalled.Why;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
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
    /** Calls of one tenant that wait. */
    static final int WAITING = 1024;

    private final Map<TenantName, Calls> tenants = new ConcurrentHashMap<>();
    private final InstantSource clock;

    TenantBulkhead(InstantSource clock) {
        this.clock = clock;
    }

    /** How many of a tenant's calls may go to one provider. */
    static int ofProvider(int calls) {
        return Math.max(1, calls * 3 / 4);
    }

    /**
     * What is to be called, and until when.
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
     * The same for any call.
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
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return busy.apply("the request was cancelled");
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

    private <T> T call(Calls calls, Call order, Supplier<T> call, Function<String, T> busy)
            throws InterruptedException {
        Permits ofProvider = calls.ofProvider(order.provider());
        if (!tryEnter(calls, ofProvider, clock.instant())) {
            if (!calls.waiting.tryAcquire()) {
                return busy.apply("%d calls of the tenant wait already".formatted(WAITING));
            }
            try {
                if (!tryEnter(calls, ofProvider, halfway(order))) {
                    return busy.apply(calls.full(order.provider()));
                }
            } finally {
                calls.waiting.release();
            }
        }
        try {
            return call.get();
        } finally {
            calls.all.release();
            ofProvider.release();
        }
    }

    private Instant halfway(Call order) {
        Instant now = clock.instant();
        return now.plus(Duration.between(now, order.deadline()).dividedBy(2));
    }

    /** Even without time to wait, it does not overtake calls that already wait. */
    private boolean tryEnter(Calls calls, Permits ofProvider, Instant until)
            throws InterruptedException {
        if (!tryAcquire(ofProvider, until)) {
            return false;
        }
        boolean entered = false;
        try {
            entered = tryAcquire(calls.all, until);
        } finally {
            if (!entered) {
                ofProvider.release();
            }
        }
        return entered;
    }

    private boolean tryAcquire(Permits permits, Instant until) throws InterruptedException {
        long timeout = Math.max(0, Duration.between(clock.instant(), until).toNanos());
        return permits.tryAcquire(timeout, TimeUnit.NANOSECONDS);
    }

    /** A semaphore whose number of permits can change. */
    private static final class Permits extends Semaphore {
        private static final long serialVersionUID = 1L;

        Permits(int permits) {
            super(permits, true);
        }

        void change(int by) {
            if (by >= 0) {
                release(by);
            } else {
                reducePermits(-by);
            }
        }
    }

    /**
     * The calls of one tenant. Fields that aren't final are changed only inside the map entry's
     * compute.
     */
    private static final class Calls {
        private final Permits all;
        private final Map<ProviderName, Permits> providers = new ConcurrentHashMap<>();
        private final Semaphore waiting = new Semaphore(WAITING);
        private volatile int max;
        private volatile int present;

        Calls(int max) {
            this.max = max;
            this.all = new Permits(max);
        }

        @SuppressWarnings("NonAtomicVolatileUpdate") // within the map's entry
        Calls joined(Call order) {
            int more = order.maxCalls() - max;
            int moreByProvider =
                    TenantBulkhead.ofProvider(order.maxCalls()) - TenantBulkhead.ofProvider(max);
            if (more != 0) {
                all.change(more);
                providers.values().forEach(each -> each.change(moreByProvider));
                max = order.maxCalls();
            }
            providers.computeIfAbsent(
                    order.provider(), _ -> new Permits(TenantBulkhead.ofProvider(max)));
            present++;
            return this;
        }

        /** Whether that was the last one. */
        @SuppressWarnings("NonAtomicVolatileUpdate") // within the map's entry
        boolean left() {
            present--;
            return present == 0;
        }

        Permits ofProvider(ProviderName provider) {
            return Objects.requireNonNull(providers.get(provider));
        }

        String full(ProviderName provider) {
            return ofProvider(provider).availablePermits() > 0
                    ? "%d calls of the tenant are in flight".formatted(max)
                    : "%d calls to access provider '%s' are in flight"
                            .formatted(TenantBulkhead.ofProvider(max), provider);
        }
    }
}
