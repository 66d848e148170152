package io.mintmark.base.limit;

import io.mintmark.base.config.RateLimitSettings;

import java.time.Duration;
import java.time.InstantSource;
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
    private final Windows<Network> windows;
    private final Windows<Network> seconds;

    /**
     * @param clock for the times that clients see
     * @param nanoTime measures windows; monotonic, unlike the clock
     */
    public RateLimiter(RateLimitSettings settings, InstantSource clock, LongSupplier nanoTime) {
        this.settings = settings;
        this.clock = clock;
        this.windows = new Windows<>(settings.window(), nanoTime);
        this.seconds = new Windows<>(BURST_WINDOW, nanoTime);
    }

    /** Counts a request, and says whether it may go on. */
    public RateDecision decide(ClientAddress client) {
        Network network = client.network();
        var window = windows.of(network);
        var second = seconds.of(network);
        if (second.take(settings.burst()) < 0) {
            return refused(Math.max(window.untilRoom(settings.requests()), second.rest()));
        }
        int remaining = window.take(settings.requests());
        if (remaining < 0) {
            second.giveBack();
            return refused(window.rest());
        }
        return allowed(remaining, window.rest());
    }

    private RateDecision allowed(int remaining, long nanos) {
        return RateDecision.allowed(
                settings.requests(), remaining, settings.window(), clock.instant(), nanos);
    }

    private RateDecision refused(long nanos) {
        return RateDecision.denied(settings.requests(), settings.window(), clock.instant(), nanos);
    }
}
