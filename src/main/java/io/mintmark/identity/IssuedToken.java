package io.mintmark.identity;

import io.mintmark.outbound.Secret;

import java.time.Instant;

/** A token that an identity provider gave the broker. */
record IssuedToken(Secret text, Instant expiresAt) {}
