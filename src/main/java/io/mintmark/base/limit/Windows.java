package io.mintmark.base.limit;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Fixed windows of one length, one for each network that has made a request in it. A window begins
 * with the first request outside of any window.
 *
 * <p>At most {@link #MOST} are kept. Beyond that, the windows with the fewest requests are dropped
 * early, and their networks start new ones. An attacker gains nothing by causing that: it takes
 * requests from tens of thousands of other networks, each of which has a full limit of its own.
 */
final class Windows {
    /** About 10 MB with both limits, for any number of addresses. */
    static final int MOST = 32_768;

    private final int requests;
    private final long nanos;
    private final LongSupplier nanoTime;
    private final Cache<Network, Window> running;

    /** What is left of one network's window. */
    final class Window {
        private final AtomicInteger left = new AtomicInteger(requests);
        private final long end = nanoTime.getAsLong() + nanos;

        /**
         * Counts a request if the limit allows it, and returns how many more are allowed, or -1.
         */
        int take() {
            return left.getAndUpdate(before -> Math.max(0, before - 1)) - 1;
        }

        /** Uncounts one. */
        void giveBack() {
            left.incrementAndGet();
        }

        /** Nanoseconds until it ends. */
        long rest() {
            return Math.max(0, end - nanoTime.getAsLong());
        }

        /** Nanoseconds until a request is allowed, in this window or the next. */
        long untilRoom() {
            return left.get() > 0 ? 0 : rest();
        }
    }

    Windows(int requests, Duration length, LongSupplier nanoTime) {
        this.requests = requests;
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

    /** The window that is running for a network, begun now if there was none. */
    Window of(Network network) {
        return running.get(network, _ -> new Window());
    }

    /** How many windows are kept. */
    long count() {
        running.cleanUp();
        return running.estimatedSize();
    }
}
