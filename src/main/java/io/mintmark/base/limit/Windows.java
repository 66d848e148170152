package io.mintmark.base.limit;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Fixed windows of one length, one for each client that has made a request in it. A window begins
 * with the first request outside of any window.
 *
 * <p>At most {@link #MOST} are kept. Beyond that, the windows with the fewest requests are dropped
 * early, and their clients start new ones. An attacker gains nothing by causing that: it takes
 * requests from tens of thousands of other networks, each of which has a full limit of its own.
 *
 * @param <C> the client: a network, a tenant
 */
public final class Windows<C> {
    /** About 10 MB with both limits of addresses, for any number of them. */
    static final int MOST = 32_768;

    private final long nanos;
    private final LongSupplier nanoTime;
    private final Cache<C, Window> running;

    /** One client's window. */
    public final class Window {
        private final AtomicInteger taken = new AtomicInteger();
        private final long end = nanoTime.getAsLong() + nanos;

        /**
         * Counts a request if the limit allows it, and returns how many more are allowed, or -1.
         *
         * @param limit requests in a window
         */
        public int take(int limit) {
            int before = taken.getAndUpdate(count -> count < limit ? count + 1 : count);
            return before < limit ? limit - before - 1 : -1;
        }

        /** Takes back the count of one request. */
        void giveBack() {
            taken.decrementAndGet();
        }

        /** The time until the window ends, in nanoseconds. */
        public long rest() {
            return Math.max(0, end - nanoTime.getAsLong());
        }

        /** The time until a request is allowed, in this window or the next, in nanoseconds. */
        long untilRoom(int limit) {
            return taken.get() < limit ? 0 : rest();
        }
    }

    /**
     * @param nanoTime a clock that only goes forward, in nanoseconds
     */
    public Windows(Duration length, LongSupplier nanoTime) {
        this.nanos = length.toNanos();
        this.nanoTime = nanoTime;
        this.running =
                Caffeine.newBuilder()
                        .maximumSize(MOST)
                        .expireAfterWrite(length)
                        .ticker(nanoTime::getAsLong)
                        .executor(Runnable::run)
                        .build();
    }

    /** The window that is running for a client, begun now if there was none. */
    public Window of(C client) {
        return running.get(client, _ -> new Window());
    }

    /** The number of windows in memory. */
    long count() {
        running.cleanUp();
        return running.estimatedSize();
    }
}
