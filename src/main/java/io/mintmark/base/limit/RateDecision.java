package io.mintmark.base.limit;

import java.time.Duration;
import java.time.Instant;

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
        Duration retryAfter) {}
