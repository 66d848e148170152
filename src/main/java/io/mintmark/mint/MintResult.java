package io.mintmark.mint;

import io.mintmark.outbound.Secret;
import io.mintmark.time.Timestamps;
import io.mintmark.verdict.MintRefusal.Reason;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/** What came of a {@link MintOrder}. */
public sealed interface MintResult {

    /** What came of it where the provider was asked, or need not be. */
    sealed interface Tried extends MintResult {}

    /**
     * A credential.
     *
     * @param fields the provider's own names for its parts ({@code AccessKeyId}); none is logged
     * @param expiresAt as the provider said
     * @param credentialId what may be known of it: a public identifier, or for an opaque token the
     *     SHA-256 in hexadecimal digits
     */
    record Minted(Map<String, Secret> fields, Instant expiresAt, String credentialId)
            implements Tried {
        public Minted {
            fields = Map.copyOf(fields);
        }

        /**
         * A credential that is one token: {@code AccessToken}, {@code Expiration} and further
         * fields.
         *
         * @param further none of them secret
         */
        public static Minted ofToken(Secret token, Instant expiresAt, Map<String, String> further) {
            Instant expiry = expiresAt.truncatedTo(ChronoUnit.SECONDS);
            Map<String, Secret> fields = new HashMap<>();
            further.forEach((field, value) -> fields.put(field, new Secret(value)));
            fields.put("AccessToken", token);
            fields.put("Expiration", new Secret(Timestamps.text(expiry)));
            return new Minted(fields, expiry, hash(token));
        }
    }

    /** Nothing that could be handed out. */
    sealed interface NotMinted extends Tried {
        Reason reason();

        /** What the provider said, for the audit log and the log; free of secrets. */
        String detail();
    }

    /** No credential. */
    record Failed(Reason reason, String detail) implements NotMinted {}

    /**
     * A credential that must not be handed out. It has been given, and may work.
     *
     * @param expiresAt empty where nobody knows
     */
    record Withheld(String credentialId, Optional<Instant> expiresAt, Reason reason, String detail)
            implements NotMinted {

        /** A token that the provider gave and that isn't what it should be. */
        public static Withheld ofToken(Secret token, Optional<Instant> expiresAt, String detail) {
            return new Withheld(hash(token), expiresAt, Reason.PROVIDER_ERROR, detail);
        }
    }

    /**
     * Nobody was asked: the tenant has as many calls under way as it may have.
     *
     * @param detail for the audit log and the log
     */
    record NotCalled(String detail) implements MintResult {}

    private static String hash(Secret token) {
        return HexFormat.of().formatHex(token.hash());
    }
}
