package io.mintmark.audit;

import java.time.Instant;
import java.util.Optional;

/**
 * What the log keeps of a credential: never a secret part.
 *
 * @param id a public identifier, or the SHA-256 of an opaque token
 * @param issuedAt when the broker received it
 * @param expiresAt when it ends, or at the latest could
 */
public record CredentialNote(Optional<String> id, Optional<Instant> issuedAt, Instant expiresAt) {}
