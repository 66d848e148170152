package io.mintmark.limit;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.TimeMeter;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Fixed windows of one length, one for each network that has made a request in it. A window begins
 * with the first request that finds none running, and is gone when its time is up.
 *
 * <p>No more than {@link #MOST} are kept. Beyond that some are forgotten before their time, those
 * first that have seen the fewest requests, and their networks start anew. Nobody gains by causing
 * that: it takes requests from tens of thousands of other networks, each of which has a whole limit
 * of its own to spend instead.
 */
final class Windows {
    /** About 25 MB with both limits, however many addresses there are. */
    static final int MOST = 32_768;

    private final Bandwidth limit;
    private final TimeMeter time;
    private final Cache<Network, Bucket> running;

    Windows(int requests, Duration length, LongSupplier nanoTime) {
        this.limit =
                Bandwidth.builder().capacity(requests).refillIntervally(requests, length).build();
        this.time = new NanoTime(nanoTime);
        this.running =
                Caffeine.newBuilder()
                        .maximumSize(MOST)
                        .expireAfterWrite(length)
                        .ticker(nanoTime::getAsLong)
                        .executor(Runnable::run)
                        .build();
    }

    /** The window that is running for a network, begun now if there was none. */
    Bucket of(Network network) {
        return running.get(network, any -> begin());
    }

    /** How many windows are kept. */
    long count() {
        running.cleanUp();
        return running.estimatedSize();
    }

    private Bucket begin() {
        return Bucket.builder().addLimit(limit).withCustomTimePrecision(time).build();
    }

    /** The same time for buckets as for the cache that holds them. */
    private record NanoTime(LongSupplier nanoTime) implements TimeMeter {
        @Override
        public long currentTimeNanos() {
            return nanoTime.getAsLong();
        }

        @Override
        public boolean isWallClockBased() {
            return false;
        }
    }
}
