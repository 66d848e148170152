package io.mintmark.base.outbound;

import java.util.Optional;

/**
 * A service's response, whatever its status.
 *
 * @param status of HTTP; never a redirect's
 * @param retryAfter the header {@code Retry-After}, as it was sent
 * @param quotaUsedUp whether {@code X-RateLimit-Remaining} says that no calls are left
 */
public record Reply(
        int status, ServiceAnswer answer, Optional<String> retryAfter, boolean quotaUsedUp) {
    private static final int OK = 200;
    private static final int REDIRECTION = 300;

    /** Whether the headers indicate too many requests, with any status. */
    public boolean isThrottled() {
        return retryAfter.isPresent() || quotaUsedUp;
    }

    /** Whether the service reports that it did what was requested. */
    public boolean isSuccess() {
        return status >= OK && status < REDIRECTION;
    }
}
