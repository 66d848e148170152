package io.mintmark.base.limit;

import io.mintmark.base.config.RateLimitSettings;
import io.mintmark.base.limit.Windows.Window;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;

/**
 * Counts requests of clients in two fixed windows: the one that the settings say, and one second
 * for bursts. A request that either refuses counts in neither. Each replica counts by itself, in
 * memory that has a bound.
 */
public final class RateLimiter {
    private static final Duration BURST_WINDOW = Duration.ofSeconds(1);

    private final RateLimitSettings settings;
    private final InstantSource clock;
    private final Windows windows;
    private final Windows seconds;

    /**
     * @param clock for the times that clients see
     * @param nanoTime measures windows; monotonic, unlike the clock
     */
    public RateLimiter(RateLimitSettings settings, InstantSource clock, LongSupplier nanoTime) {
        this.settings = settings;
        this.clock = clock;
        this.windows = new Windows(settings.requests(), settings.window(), nanoTime);
        this.seconds = new Windows(settings.burst(), BURST_WINDOW, nanoTime);
    }

    /** Counts a request, and says whether it may go on. */
    public RateDecision decide(ClientAddress client) {
        Network network = client.network();
        Window window = windows.of(network);
        Window second = seconds.of(network);
        if (second.take() < 0) {
            return refused(Math.max(window.untilRoom(), second.rest()));
        }
        int remaining = window.take();
        if (remaining < 0) {
            second.giveBack();
            return refused(window.rest());
        }
        return allowed(remaining, window.rest());
    }

    private RateDecision allowed(int remaining, long nanos) {
        return new RateDecision(
                true, settings.requests(), remaining, settings.window(), in(nanos), Duration.ZERO);
    }

    private RateDecision refused(long nanos) {
        return new RateDecision(
                false,
                settings.requests(),
                0,
                settings.window(),
                in(nanos),
                wholeSeconds(Duration.ofNanos(Math.max(nanos, 1))));
    }

    private Instant in(long nanos) {
        Instant instant = clock.instant().plusNanos(nanos);
        Instant second = instant.truncatedTo(ChronoUnit.SECONDS);
        return second.equals(instant) ? instant : second.plusSeconds(1);
    }

    private static Duration wholeSeconds(Duration duration) {
        return duration.plusSeconds(1).minusNanos(1).truncatedTo(ChronoUnit.SECONDS);
    }
}
