package io.mintmark.mint.web;

import io.mintmark.outbound.Secret;

import java.time.Instant;
import java.util.Optional;

/**
 * A token that a provider gave.
 *
 * @param expiresAt empty where the provider doesn't say
 */
public record TimedToken(Secret text, Optional<Instant> expiresAt) {}
