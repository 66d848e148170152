package io.mintmark.base.verdict;

import java.time.Duration;
import java.time.Instant;

/**
 * The token's tenant has made as many requests as it may: 429 {@code RATE_LIMIT_EXCEEDED}.
 *
 * @param limit how many requests a window has
 * @param window how long a window is
 * @param resetAt when the next one begins
 * @param retryAfter the time until then in whole seconds, at least one
 */
public record LimitRefusal(
        String tenant, int limit, Duration window, Instant resetAt, Duration retryAfter)
        implements Refusal {}
