package io.mintmark.mint;

import io.mintmark.outbound.Secret;
import io.mintmark.verdict.MintRefusal;

import java.time.Instant;
import java.util.Map;

/** What came of a {@link MintOrder}. */
public sealed interface MintResult {

    /**
     * A credential.
     *
     * @param fields the provider's own names for its parts ({@code AccessKeyId}); none is logged
     * @param expiresAt as the provider said
     * @param credentialId what may be known of it: a public identifier, or for an opaque token the
     *     SHA-256 in hexadecimal digits
     */
    record Minted(Map<String, Secret> fields, Instant expiresAt, String credentialId)
            implements MintResult {
        public Minted {
            fields = Map.copyOf(fields);
        }
    }

    /**
     * No credential.
     *
     * @param detail what the provider said, for the audit log and the log; free of secrets
     */
    record Failed(MintRefusal.Reason reason, String detail) implements MintResult {}
}
