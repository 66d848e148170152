package io.mintmark.broker.token;

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

    private Instant free = Instant.MIN;

    /** The next time at which a source may be fetched, which no other source gets. */
    synchronized Instant from(Instant now, Duration atLeast) {
        free = free.isBefore(now) ? now : free.plus(BETWEEN_FETCHES);
        Instant earliest = now.plus(atLeast);
        return free.isAfter(earliest) ? free : earliest;
    }
}
