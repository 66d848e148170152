package io.mintmark.base.outbound;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;

import io.mintmark.base.outbound.OutboundFailure.Kind;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Permits that owners share. One owner holds at most a part of them, so that others find some left.
 */
public final class SharedPermits {
    private final Semaphore all;

    /** A semaphore exists while a thread waits for it or holds one of its permits. */
    private final LoadingCache<String, Semaphore> byOwner;

    /**
     * @param all the number of permits
     * @param ofOwner the maximum for one owner
     */
    public SharedPermits(int all, int ofOwner) {
        this.all = new Semaphore(all, true);
        this.byOwner = Caffeine.newBuilder().weakValues().build(_ -> new Semaphore(ofOwner, true));
    }

    /** A permit; to be closed once, by any thread. */
    public static final class Permit implements AutoCloseable {
        private final Semaphore all;
        private final Semaphore own;

        private Permit(Semaphore all, Semaphore own) {
            this.all = all;
            this.own = own;
        }

        @Override
        public void close() {
            all.release();
            own.release();
        }
    }

    /**
     * Takes a permit. Waits for one of the owner's first, so that an owner who holds too many keeps
     * none from others while waiting.
     *
     * @param owner a tenant's name, or empty for the broker itself
     * @param timeout for each of the two waits; zero or less doesn't wait
     * @return empty if none became free in time, or the thread was interrupted
     */
    public Optional<Permit> acquire(String owner, Duration timeout) {
        Semaphore own = byOwner.get(owner);
        try {
            return own.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS)
                    ? complete(own, timeout)
                    : Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /**
     * Takes a permit as {@link #acquire} does.
     *
     * @param message of the failure, for the log
     * @throws OutboundFailure of kind {@link Kind#BUSY} if none became free in time
     */
    public Permit require(String owner, Duration timeout, String message) throws OutboundFailure {
        return acquire(owner, timeout).orElseThrow(() -> new OutboundFailure(Kind.BUSY, message));
    }

    private Optional<Permit> complete(Semaphore own, Duration timeout) throws InterruptedException {
        boolean acquired = false;
        try {
            acquired = all.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return acquired ? Optional.of(new Permit(all, own)) : Optional.empty();
        } finally {
            if (!acquired) {
                own.release();
            }
        }
    }
}
