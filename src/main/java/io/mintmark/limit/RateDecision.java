package io.mintmark.limit;

import java.time.Duration;
import java.time.Instant;

/**
 * Whether a request may go on, and what to tell its client.
 *
 * @param limit how many requests a window has
 * @param remaining how many of them are left; 0 when refused, for whichever reason
 * @param window how long a window is
 * @param resetAt when there will be requests left again, in whole seconds: the end of the window,
 *     or of the second if only that was too full
 * @param retryAfter whole seconds to wait, at least one; zero when allowed
 */
public record RateDecision(
        boolean allowed,
        int limit,
        int remaining,
        Duration window,
        Instant resetAt,
        Duration retryAfter) {}
