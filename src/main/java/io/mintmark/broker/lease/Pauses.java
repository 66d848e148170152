package io.mintmark.broker.lease;

import io.mintmark.base.time.Backoff;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;

/**
 * Calculates the pauses after which failing access providers are called again. A provider that is
 * down delays no other.
 */
final class Pauses {
    static final Duration LONGEST = Duration.ofMinutes(15);
    private static final Backoff BACKOFF = new Backoff(Duration.ofSeconds(1), LONGEST);

    /** The exponent of the longest pause at first: half a minute. */
    private static final int ENOUGH_AT_FIRST = 5;

    /** Ten minutes, even if each pause of half a minute is only half as long. */
    private static final int AT_FIRST = 40;

    private record Pause(int failures, Instant until) {}

    private final Map<ProviderId, Pause> pauses = new ConcurrentHashMap<>();
    private final InstantSource clock;
    private final RandomGenerator random;

    /**
     * @param random spreads the tries of several replicas
     */
    Pauses(InstantSource clock, RandomGenerator random) {
        this.clock = clock;
        this.random = random;
    }

    /**
     * The pause after a number of consecutive failures: two to the power of that number in seconds,
     * randomly reduced by up to half. For the first ten minutes pauses stay short, because each try
     * also ends sessions of a login that can't be dropped yet.
     */
    Duration after(int failures) {
        int doubled = Math.max(Math.min(failures, ENOUGH_AT_FIRST), failures - AT_FIRST);
        return BACKOFF.pause(doubled, random);
    }

    boolean isPaused(ProviderId provider) {
        Pause pause = pauses.get(provider);
        return pause != null && clock.instant().isBefore(pause.until());
    }

    /** Notes another failure of a provider, and begins the next pause. */
    void failed(ProviderId provider) {
        pauses.compute(
                provider,
                (_, before) -> {
                    int failures = before == null ? 1 : before.failures() + 1;
                    return new Pause(failures, clock.instant().plus(after(failures)));
                });
    }

    void answered(ProviderId provider) {
        pauses.remove(provider);
    }
}
