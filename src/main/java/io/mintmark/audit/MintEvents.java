package io.mintmark.audit;

import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Credential;
import io.mintmark.audit.Event.End;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.How;
import io.mintmark.audit.Event.Subject;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.util.Optional;

/** Creates the rows of one mint, and holds the values that they share. */
public record MintEvents(
        MintId mintId,
        Caller caller,
        Subject subject,
        KeyName key,
        Optional<GrantReference> grant) {

    /**
     * The intent, to be committed before the provider is called.
     *
     * @param latestExpiry until when a credential that comes of it could live at most
     */
    public Event requested(Instant now, Instant latestExpiry) {
        Credential note = new Credential(Optional.empty(), Optional.empty(), latestExpiry);
        return row(Kind.REQUESTED, now, null, null, note);
    }

    /** The credential is handed out. */
    public Event issued(Instant now, Credential credential) {
        return issued(now, Optional.empty(), credential);
    }

    /**
     * The credential is handed out, and admins must know a detail of its mint.
     *
     * @param detail free of secrets
     */
    public Event issued(Instant now, Optional<String> detail, Credential credential) {
        return row(Kind.ISSUED, now, null, detail.orElse(null), credential);
    }

    /**
     * No credential was obtained. If the provider was called and gave no clear answer, it may still
     * have issued one.
     */
    public Event failed(Instant now, String reason, String detail) {
        return row(Kind.FAILED, now, reason, detail, null);
    }

    /** A credential was obtained and is not handed out. */
    public Event withheld(Instant now, String reason, String detail, Credential credential) {
        return row(Kind.WITHHELD, now, reason, detail, credential);
    }

    /** A credential that was withheld has been revoked. */
    public Event undone(Instant now, String credentialId) {
        GrantReference under = grant.orElseThrow();
        End end =
                new End(
                        subject.tenant().orElseThrow(),
                        under.provider(),
                        under.providerType(),
                        Optional.of(credentialId));
        return Event.ended(mintId, now, key, end, How.UNDONE, Optional.empty());
    }

    /** The subject may not have the key. */
    public Event denied(Instant now, String reason) {
        return row(Kind.DENIED, now, reason, null, null);
    }

    private Event row(
            Kind kind,
            Instant now,
            @Nullable String reason,
            @Nullable String detail,
            @Nullable Credential credential) {
        return new Event(
                mintId,
                kind,
                now,
                Optional.of(caller),
                Optional.of(subject),
                Optional.of(key),
                grant,
                Optional.ofNullable(reason),
                Optional.ofNullable(detail),
                Optional.ofNullable(credential),
                Optional.empty());
    }
}
