package io.mintmark.provider;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.time.Timestamps;
import io.mintmark.base.verdict.MintRefusal.Reason;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/** The result of a {@link MintOrder}. */
public sealed interface MintResult {

    /** The result of a call to the provider, or of a mint that needs no call. */
    sealed interface Tried extends MintResult {}

    /**
     * A credential.
     *
     * @param fields the provider's own names for its parts ({@code AccessKeyId}); none is logged
     * @param expiresAt as the provider said
     * @param credentialId what may be known of it: a public identifier, or for an opaque token the
     *     SHA-256 in hexadecimal digits
     * @param undo how the provider ends it, if it can
     * @param endsByItself whether nothing of it is left after its end, though its type has an
     *     {@link LeaseRevoker}
     * @param note what admins must know of it, for the audit log; free of secrets
     */
    record Minted(
            Map<String, Secret> fields,
            Instant expiresAt,
            String credentialId,
            Optional<Undo> undo,
            boolean endsByItself,
            Optional<String> note)
            implements Tried {
        /**
         * The field for the scope of a token as OAuth 2.0 writes it, if it has one. Protocols that
         * hand out the scope read it; the {@code outputs} of keys can't name it.
         */
        public static final String SCOPE = "Scope";

        public Minted {
            fields = Map.copyOf(fields);
        }

        /** A credential that can't be ended before it expires. */
        public Minted(Map<String, Secret> fields, Instant expiresAt, String credentialId) {
            this(fields, expiresAt, credentialId, Optional.empty(), false, Optional.empty());
        }

        /** Notes how the credential can be ended. */
        public Minted endedBy(Undo how) {
            return new Minted(
                    fields, expiresAt, credentialId, Optional.of(how), endsByItself, note);
        }

        /** Notes whether nothing of the credential is left after its end. */
        public Minted endingByItself(boolean does) {
            return new Minted(fields, expiresAt, credentialId, undo, does, note);
        }

        /** Adds what admins must know of the credential. */
        public Minted noted(String what) {
            return new Minted(
                    fields, expiresAt, credentialId, undo, endsByItself, Optional.of(what));
        }

        /** Renames the credential's fields. */
        public Minted named(Map<String, Secret> members) {
            return new Minted(members, expiresAt, credentialId, undo, endsByItself, note);
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

    /** No credential can be returned to the client. */
    sealed interface NotMinted extends Tried {
        Reason reason();

        /** The message of the provider, for the audit log and the log; free of secrets. */
        String detail();
    }

    /** No credential was obtained. */
    record Failed(Reason reason, String detail) implements NotMinted {}

    /**
     * A credential that was issued, may work, and must not be handed out.
     *
     * @param expiresAt empty if unknown
     * @param undo how the provider revokes it, if it can
     */
    record Withheld(
            String credentialId,
            Optional<Instant> expiresAt,
            Reason reason,
            String detail,
            Optional<Undo> undo)
            implements NotMinted {

        /** A withheld credential that can't be ended before it expires. */
        public Withheld(
                String credentialId, Optional<Instant> expiresAt, Reason reason, String detail) {
            this(credentialId, expiresAt, reason, detail, Optional.empty());
        }

        /** Notes how the credential can be ended. */
        public Withheld endedBy(Undo how) {
            return endedBy(Optional.of(how));
        }

        /** Notes how the credential can be ended, if it can. */
        public Withheld endedBy(Optional<Undo> how) {
            return new Withheld(credentialId, expiresAt, reason, detail, how);
        }

        /** Withholds the credential for another reason. */
        public Withheld because(Reason other) {
            return new Withheld(credentialId, expiresAt, other, detail, undo);
        }

        /** A token that the provider returned and that isn't as requested. */
        public static Withheld ofToken(Secret token, Optional<Instant> expiresAt, String detail) {
            return new Withheld(hash(token), expiresAt, Reason.PROVIDER_ERROR, detail);
        }
    }

    /**
     * No provider was asked, or none gave anything before it was to be asked again.
     *
     * @param detail for the audit log and the log
     */
    record NotCalled(Why why, String detail) implements MintResult {

        /** The reason why a provider isn't called. */
        public enum Why {
            /** The tenant has as many calls in flight as it may have. */
            TENANT_BUSY,
            /** The configuration was changed, or a grant or the token ended. */
            DECISION_CHANGED,
            /** The database can't say whether the decision still holds. */
            STATE_UNKNOWN,
            /** No call was made, because this replica's threads wait for a processor. */
            REPLICA_BUSY,
            /** The broker makes the credential itself, and had not made it by the deadline. */
            REPLICA_LATE
        }
    }

    private static String hash(Secret token) {
        return HexFormat.of().formatHex(token.hash());
    }
}
