package io.mintmark.base.limit;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Whether a request is allowed, and the values of the response's headers.
 *
 * @param limit the maximum number of requests in a window
 * @param remaining how many of them are left; 0 when rejected, for any reason
 * @param window the length of a window
 * @param resetAt when requests are allowed again, in whole seconds: the end of the window, or of
 *     the second if only the burst was too large
 * @param retryAfter whole seconds to wait, at least one; zero when allowed
 */
public record RateDecision(
        boolean allowed,
        int limit,
        int remaining,
        Duration window,
        Instant resetAt,
        Duration retryAfter) {
    private static final long NANOS_A_SECOND = Duration.ofSeconds(1).toNanos();

    /**
     * A request that counts.
     *
     * @param nanos until the window ends
     */
    static RateDecision allowed(
            int limit, int remaining, Duration window, Instant now, long nanos) {
        return new RateDecision(true, limit, remaining, window, resetAt(now, nanos), Duration.ZERO);
    }

    /**
     * A request over the limit.
     *
     * @param nanos until another is allowed
     */
    public static RateDecision denied(int limit, Duration window, Instant now, long nanos) {
        return new RateDecision(
                false,
                limit,
                0,
                window,
                resetAt(now, nanos),
                Duration.ofSeconds(Math.ceilDiv(Math.max(nanos, 1), NANOS_A_SECOND)));
    }

    private static Instant resetAt(Instant now, long nanos) {
        return now.plusNanos(nanos + NANOS_A_SECOND - 1).truncatedTo(ChronoUnit.SECONDS);
    }
}
