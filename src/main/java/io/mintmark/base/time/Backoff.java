package io.mintmark.base.time;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Pauses between tries: each twice as long as the one before, up to the longest, and at random up
 * to half shorter, so that several replicas don't try at the same time.
 */
public record Backoff(Duration first, Duration longest) {
    /** Makes a second twelve days, so that the shift doesn't overflow. */
    private static final int MOST_DOUBLINGS = 20;

    /** The pause after so many pauses before it. */
    public Duration pause(int before, RandomGenerator random) {
        Duration doubled = first.multipliedBy(1L << Math.min(before, MOST_DOUBLINGS));
        long most = Math.min(doubled.toMillis(), longest.toMillis());
        return Duration.ofMillis(random.nextLong(most / 2, most + 1));
    }
}
