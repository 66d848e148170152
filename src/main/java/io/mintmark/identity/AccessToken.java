package io.mintmark.identity;

import io.mintmark.outbound.Secret;

import java.time.Instant;

/** A signed access token and its {@code exp}. */
public record AccessToken(Secret text, Instant expiresAt) {}
