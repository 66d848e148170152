package io.mintmark.broker.token;

import io.mintmark.base.limit.LeakyBucket;

import java.time.Duration;
import java.time.Instant;

/**
 * How often the key sets of all sources together may be fetched again: 20 times a second. A
 * stranger can have any source's keys fetched again, by a token with a made-up {@code kid} or at an
 * issuer that fails, and a fetch costs a hundred times as much as the request that causes it. Each
 * source has its turn; with up to forty of them under such a flood, none waits longer than alone.
 */
final class FetchPace {
    static final Duration BETWEEN_FETCHES = Duration.ofMillis(50);

    private final LeakyBucket fetches = new LeakyBucket(0);

    /** The next time at which a source may be fetched, which no other source gets. */
    Instant from(Instant now, Duration atLeast) {
        long sinceEpoch = Duration.between(Instant.EPOCH, now).toNanos();
        long wait = fetches.add(sinceEpoch, BETWEEN_FETCHES.toNanos());
        return now.plusNanos(Math.max(wait, atLeast.toNanos()));
    }
}
