package io.mintmark.audit;

import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;

import java.net.InetAddress;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/**
 * One row of {@code audit.event}.
 *
 * @param subject none only where many requests are counted in one row
 * @param key none where the token was not accepted
 * @param reason a stable word, where something was refused or failed
 * @param detail what operators and auditors may know beyond it, for example the provider's own
 *     words
 * @param credential what may be known of the credential; for {@link Kind#REQUESTED} only until when
 *     one could live
 * @param end for {@link Kind#ENDED} alone, whose row has neither caller nor subject nor grant
 */
public record Event(
        MintId mintId,
        Kind kind,
        Instant occurredAt,
        Optional<Caller> caller,
        Optional<Subject> subject,
        Optional<KeyName> key,
        Optional<GrantReference> grant,
        Optional<String> reason,
        Optional<String> detail,
        Optional<Credential> credential,
        Optional<End> end) {

    /**
     * The row of a credential that doesn't work any more.
     *
     * @param detail what is left of it, and other words of the provider
     */
    public static Event ended(
            MintId mintId, Instant now, KeyName key, End end, How how, Optional<String> detail) {
        return new Event(
                mintId,
                Kind.ENDED,
                now,
                Optional.empty(),
                Optional.empty(),
                Optional.of(key),
                Optional.empty(),
                Optional.of(how.word()),
                detail,
                Optional.empty(),
                Optional.of(end));
    }

    /** The type of the access provider; empty where none was asked. */
    public Optional<String> providerType() {
        return grant.map(GrantReference::providerType).or(() -> end.map(End::providerType));
    }

    /**
     * The client, as far as the connection shows.
     *
     * @param requestId the correlation id, which the response contains too
     * @param address the client's, not a trusted proxy's
     * @param userAgent as the client sent it
     */
    public record Caller(String requestId, InetAddress address, Optional<String> userAgent) {}

    /**
     * What is known of the token, and thus of its subject.
     *
     * @param tenant none if the token led to no tenant
     * @param name the {@code sub}; none if the token was not accepted
     * @param tokenId the {@code jti}, if present
     * @param tokenHash SHA-256 of the token, in hexadecimal digits
     * @param claims JSON of the claims that grants evaluated
     * @param actor who acts for it
     */
    public record Subject(
            Optional<TenantName> tenant,
            Optional<IdpName> idp,
            String issuer,
            Optional<String> name,
            Optional<String> tokenId,
            String tokenHash,
            Optional<String> claims,
            Optional<Actor> actor) {

        /** A subject for which nobody acts. */
        public Subject(
                Optional<TenantName> tenant,
                Optional<IdpName> idp,
                String issuer,
                Optional<String> name,
                Optional<String> tokenId,
                String tokenHash,
                Optional<String> claims) {
            this(tenant, idp, issuer, name, tokenId, tokenHash, claims, Optional.empty());
        }

        /** Returns this subject together with the actor that acts for it. */
        public Subject with(Optional<Actor> acting) {
            return new Subject(tenant, idp, issuer, name, tokenId, tokenHash, claims, acting);
        }
    }

    /**
     * What is known of who acts for the subject.
     *
     * @param name the {@code sub} of its token or of the claim {@code act}; none if its token was
     *     not accepted
     * @param claims JSON of the claims that grants evaluated
     * @param tokenHash SHA-256 of its token, in hexadecimal digits; none if the claim {@code act}
     *     of the subject's token names it
     */
    public record Actor(
            Optional<IdpName> idp,
            String issuer,
            Optional<String> name,
            Optional<String> claims,
            Optional<String> tokenId,
            Optional<String> tokenHash) {}

    /**
     * Under what a key is minted.
     *
     * @param provider the access provider's name
     * @param providerType its type
     * @param grantId the grant's {@code id}
     * @param grantRevision the tenant's revision at which the decision was made
     * @param sharedRevision that of the tables without tenant
     * @param configHash SHA-256 of what was used of the rows that the decision rests on, as {@link
     *     CanonicalForm#DECISION}, in hexadecimal digits
     */
    public record GrantReference(
            ProviderName provider,
            String providerType,
            long grantId,
            long grantRevision,
            long sharedRevision,
            String configHash) {}

    /**
     * What the log keeps of a credential: never a secret part.
     *
     * @param id a public identifier, or the SHA-256 of an opaque token
     * @param issuedAt when the broker received it
     * @param expiresAt when it ends, or at the latest could
     * @param endsByItself whether its provider has nothing left of it then; only ends depend on it
     */
    public record Credential(
            Optional<String> id,
            Optional<Instant> issuedAt,
            Instant expiresAt,
            boolean endsByItself) {

        /** A credential of which something may be left. */
        public Credential(Optional<String> id, Optional<Instant> issuedAt, Instant expiresAt) {
            this(id, issuedAt, expiresAt, false);
        }
    }

    /**
     * What a row {@code ended} repeats of its mint.
     *
     * @param credentialId empty where it isn't known whether there was a credential
     */
    public record End(
            TenantName tenant,
            ProviderName provider,
            String providerType,
            Optional<String> credentialId) {}

    /** How a credential ended. */
    public enum How {
        /** The credential expired. */
        OVER,
        /** An admin requested the end. */
        ASKED_FOR,
        /** The credential was never handed out. */
        UNDONE,
        /** The provider still listed the credential after its expiry. */
        SWEPT,
        /** The credential doesn't work any more, but something is left at the provider. */
        DISARMED;

        /** The value in the column {@code reason}. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
