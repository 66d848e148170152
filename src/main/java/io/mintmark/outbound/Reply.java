package io.mintmark.outbound;

import java.util.Optional;

/**
 * What a service answered, be it good or bad.
 *
 * @param status of HTTP; never a redirect's
 * @param retryAfter the header {@code Retry-After}, as it was sent
 */
public record Reply(int status, ServiceAnswer answer, Optional<String> retryAfter) {
    private static final int OK = 200;
    private static final int REDIRECTION = 300;

    /** Whether the service says that it did what it was asked. */
    public boolean isSuccess() {
        return status >= OK && status < REDIRECTION;
    }
}
