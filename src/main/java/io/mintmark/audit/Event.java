package io.mintmark.audit;

import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.MintId;

import java.time.Instant;
import java.util.Optional;

/**
 * One row of {@code audit.event}.
 *
 * @param holder none only where many requests are counted in one row
 * @param key none where the token was not accepted
 * @param warrant none where there was no grant
 * @param reason a stable word, where something was refused or failed
 * @param detail what operators and auditors may know beyond it, for example the provider's own
 *     words
 * @param credential what may be known of the credential; for {@link Kind#REQUESTED} only until when
 *     one could live
 */
public record Event(
        MintId mintId,
        Kind kind,
        Instant occurredAt,
        Optional<Caller> caller,
        Optional<Holder> holder,
        Optional<KeyName> key,
        Optional<Warrant> warrant,
        Optional<String> reason,
        Optional<String> detail,
        Optional<CredentialNote> credential) {}
