package io.mintmark.mint.gcp;

import io.mintmark.outbound.Secret;

import java.time.Instant;
import java.util.Optional;

/**
 * An access token of Google's.
 *
 * @param expiresAt empty where Google doesn't say
 */
record GoogleToken(Secret text, Optional<Instant> expiresAt) {}
