package io.mintmark.console;

import io.mintmark.base.outbound.Secret;

/**
 * The ID token of the session that a request belongs to, for what its viewer asks of the broker.
 */
public record SessionToken(Secret idToken) {}
