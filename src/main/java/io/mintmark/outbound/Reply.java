package io.mintmark.outbound;

import java.util.Optional;

/**
 * What a service answered, be it good or bad.
 *
 * @param status of HTTP; never a redirect's
 * @param body what it holds as UTF-8; it may hold a credential
 * @param retryAfter the header {@code Retry-After}, as it was sent
 */
public record Reply(int status, Secret body, Optional<String> retryAfter) {}
