package io.mintmark.provider.web;

import io.mintmark.base.outbound.Secret;

import java.time.Instant;
import java.util.Optional;

/**
 * A token that a provider gave.
 *
 * @param expiresAt empty where the provider doesn't say
 * @param scope as OAuth 2.0 writes it; empty where the provider doesn't say
 */
public record TimedToken(Secret text, Optional<Instant> expiresAt, Optional<String> scope) {

    /** A token without details of what it is valid for. */
    public TimedToken(Secret text, Optional<Instant> expiresAt) {
        this(text, expiresAt, Optional.empty());
    }
}
