package io.mintmark.base.limit;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Permits that owners share. One owner holds at most a part of them, so that others find some left.
 * Waiting threads are served in order of arrival. Owners without permits use no memory.
 *
 * @param <K> who owns permits: a tenant, a provider, a network
 */
public final class SharedPermits<K> {
    private final Permits all;
    private final Map<K, Owner> owners = new ConcurrentHashMap<>();
    private volatile int ofOwner;

    /**
     * @param all the number of permits
     * @param ofOwner the maximum for one owner
     */
    public SharedPermits(int all, int ofOwner) {
        this.all = new Permits(all);
        this.ofOwner = ofOwner;
    }

    /** Permits with a maximum for each owner, and none for all together. */
    public static <K> SharedPermits<K> ofEachOwner(int ofOwner) {
        return new SharedPermits<>(Integer.MAX_VALUE, ofOwner);
    }

    /** Changes both numbers. Permits that are held stay held. */
    public void resize(int all, int ofOwner) {
        this.all.resize(all);
        this.ofOwner = ofOwner;
        owners.keySet().forEach(owner -> owners.computeIfPresent(owner, (_, own) -> own.resized()));
    }

    /** One or several permits; to be closed once, by any thread. */
    public interface Permit extends AutoCloseable {
        @Override
        void close();
    }

    /**
     * Takes a permit. Waits for one of the owner's first, so that an owner who holds too many keeps
     * none from others while waiting.
     *
     * @param timeout of both waits together; zero or less doesn't wait, and doesn't overtake
     * @return empty if none became free in time, or the thread was interrupted
     */
    public Optional<Permit> acquire(K owner, Duration timeout) {
        return Thread.currentThread().isInterrupted()
                ? Optional.empty()
                : acquire(owner, 1, timeout);
    }

    /**
     * Takes so many permits, or none, without waiting; so an interrupted thread can do it too, such
     * as a call whose answer came too late.
     */
    public Optional<Permit> acquire(K owner, int count) {
        return acquire(owner, count, Duration.ZERO);
    }

    private Optional<Permit> acquire(K owner, int count, Duration timeout) {
        long until = System.nanoTime() + timeout.toNanos();
        Owner own = enter(owner);
        boolean acquired = false;
        try {
            acquired = acquire(own, count, until);
            return acquired ? Optional.of(() -> release(owner, own, count)) : Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } finally {
            if (!acquired) {
                leave(owner);
            }
        }
    }

    private boolean acquire(Owner own, int count, long until) throws InterruptedException {
        if (!own.permits.tryAcquire(count, until)) {
            return false;
        }
        boolean acquired = false;
        try {
            acquired = all.tryAcquire(count, until);
            return acquired;
        } finally {
            if (!acquired) {
                own.permits.release(count);
            }
        }
    }

    private void release(K owner, Owner own, int count) {
        all.release(count);
        own.permits.release(count);
        leave(owner);
    }

    /** The number of permits that nobody holds. */
    public int available() {
        return all.availablePermits();
    }

    /**
     * The number of free permits in the owner's own share, whether or not other owners hold all
     * permits.
     */
    public int available(K owner) {
        Owner own = owners.get(owner);
        return own == null ? ofOwner : own.permits.availablePermits();
    }

    /** The number of owners who hold permits or wait for some. */
    int owners() {
        return owners.size();
    }

    private Owner enter(K owner) {
        return Objects.requireNonNull(
                owners.compute(owner, (_, own) -> (own == null ? new Owner() : own).joined()));
    }

    private void leave(K owner) {
        owners.computeIfPresent(owner, (_, own) -> own.isLeftByAll() ? null : own);
    }

    /**
     * An owner who holds permits or waits for some. Changed only inside the map entry's compute.
     */
    private final class Owner {
        private final Permits permits = new Permits(ofOwner);
        private int present;

        Owner joined() {
            present++;
            return resized();
        }

        boolean isLeftByAll() {
            present--;
            return present == 0;
        }

        Owner resized() {
            permits.resize(ofOwner);
            return this;
        }
    }

    /** A fair semaphore whose number of permits can be changed. */
    private static final class Permits extends Semaphore {
        private static final long serialVersionUID = 1L;

        private int size;

        Permits(int size) {
            super(size, true);
            this.size = size;
        }

        synchronized void resize(int to) {
            if (to >= size) {
                release(to - size);
            } else {
                reducePermits(size - to);
            }
            size = to;
        }

        /**
         * Waits for permits until a time of {@link System#nanoTime}. After that time, takes permits
         * only if they are free and nobody waits for some.
         */
        boolean tryAcquire(int count, long until) throws InterruptedException {
            long left = until - System.nanoTime();
            return left > 0
                    ? tryAcquire(count, left, TimeUnit.NANOSECONDS)
                    : !hasQueuedThreads() && tryAcquire(count);
        }
    }
}
