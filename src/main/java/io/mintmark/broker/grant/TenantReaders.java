package io.mintmark.broker.grant;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.Supplier;

/**
 * Limits how many readers a tenant has, and how much memory they hold: at most two at a time, of
 * which one may read something large. A large result is read again with a permit for large reads,
 * of which there are few: no reader holds a connection, or what it has read, while it waits for
 * memory.
 */
final class TenantReaders {
    /** Readers of something large, of all tenants. */
    static final int LARGE = 3;

    private static final int READERS_OF_A_TENANT = 2;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration SOON = Duration.ofSeconds(1);

    private static final class Permits {
        private final Semaphore readers = new Semaphore(READERS_OF_A_TENANT, true);
        private final Semaphore large = new Semaphore(1, true);
    }

    private final CatalogueMemory memory;
    private final Semaphore large = new Semaphore(LARGE, true);

    /** Of tenants that have readers: the readers refer to them. */
    private final LoadingCache<TenantName, Permits> byTenant =
            Caffeine.newBuilder().weakValues().executor(Runnable::run).build(_ -> new Permits());

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
        Permits permits = byTenant.get(tenant);
        return with(
                permits.readers,
                tenant,
                () -> {
                    T small = reading.apply(memory.small());
                    return small.tooLarge() ? readLarge(permits, tenant, reading) : small;
                });
    }

    private <T> T readLarge(Permits permits, TenantName tenant, LongFunction<T> reading) {
        return with(
                permits.large,
                tenant,
                () -> with(large, tenant, () -> reading.apply(memory.large())));
    }

    private static <T> T with(Semaphore permit, TenantName tenant, Supplier<T> reading) {
        if (!acquire(permit)) {
            throw new Unavailable(
                    "Too much of tenant '%s' is being read; try again.".formatted(tenant), SOON);
        }
        try {
            return reading.get();
        } finally {
            permit.release();
        }
    }

    private static boolean acquire(Semaphore permit) {
        try {
            return permit.tryAcquire(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
