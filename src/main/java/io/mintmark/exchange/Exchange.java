package io.mintmark.exchange;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.Rejections;
import io.mintmark.grant.Catalogue;
import io.mintmark.grant.KnownIssuers;
import io.mintmark.mint.AccessProviders;
import io.mintmark.tenant.MintIds;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.Examination;
import io.mintmark.token.TokenVerifier;
import io.mintmark.verdict.AccessRefusal;
import io.mintmark.verdict.Refusal;
import io.mintmark.verdict.TokenRefusal;
import io.mintmark.verdict.Verdict;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

/**
 * The use case: a token comes in, credentials go out, and everything that happened is on record
 * before anybody hears of it.
 *
 * <p>Every method throws {@link io.mintmark.verdict.Unavailable} where something that is needed is
 * gone for now; then nothing was handed out.
 */
public final class Exchange {
    private final Admission admission;
    private final Intents intents;
    private final Mints mints;
    private final Rejections rejections;
    private final RequestEvents events;
    private final InstantSource clock;

    /**
     * @param patience how long the access providers of a request may take together
     */
    public Exchange(
            TokenVerifier verifier,
            KnownIssuers issuers,
            Catalogue catalogue,
            AccessProviders providers,
            AuditLog log,
            Rejections rejections,
            MintIds mintIds,
            InstantSource clock,
            Duration patience,
            MintListener listener) {
        Records records = new Records(log);
        this.admission = new Admission(verifier, issuers, catalogue, listener);
        this.events = new RequestEvents(mintIds);
        this.intents =
                new Intents(
                        this::admitAnew,
                        records,
                        events,
                        clock,
                        patience.plus(ProviderCalls.TOLERANCE));
        this.mints =
                new Mints(
                        new ProviderCalls(providers, clock, listener),
                        records,
                        clock,
                        patience,
                        listener);
        this.rejections = rejections;
        this.clock = clock;
    }

    /** Verify, find the keys, check the grants, record the intent, mint, record, answer. */
    public Verdict<Credentials> mint(MintRequest request) {
        return admission
                .admit(request.token(), refused -> reject(request.caller(), refused))
                .then(request.format()::check)
                .then(admitted -> redeem(request.caller(), admitted))
                .then(admitted -> intents.record(request, admitted))
                .then(mints::carryOut);
    }

    private Verdict<Admitted> redeem(Caller caller, Admitted admitted) {
        Verdict<Admitted> verdict = admission.redeem(admitted);
        if (verdict instanceof Verdict.Refused<Admitted>(Refusal refusal)) {
            reject(caller, RequestEvents.unverified(admitted.token()), refusal);
        }
        return verdict;
    }

    private void reject(Caller caller, Examination examination) {
        if (examination.verdict() instanceof Verdict.Refused<?>(Refusal refusal)) {
            RequestEvents.unverified(examination)
                    .ifPresent(subject -> reject(caller, subject, refusal));
        }
    }

    private void reject(Caller caller, Subject subject, Refusal refusal) {
        if (refusal instanceof TokenRefusal reason) {
            rejections.note(events.rejected(caller, subject, reason.word(), clock.instant()));
        }
    }

    private Verdict<Admitted> admitAnew(MintRequest request, TenantName tenant) {
        return admission.admitAnew(
                request.token(), tenant, refused -> reject(request.caller(), refused));
    }

    /** The keys that the token's subject could mint now. */
    public Verdict<KeyList> keys(KeyList.Request request) {
        return admission
                .admit(request.token(), refused -> reject(request.caller(), refused))
                .then(admitted -> redeem(request.caller(), admitted))
                .then(this::list);
    }

    private Verdict<KeyList> list(Admitted admitted) {
        String subject = admitted.token().subject();
        var idp = admitted.token().provider().name();
        var mintable = admitted.entitlements().mintable(clock.instant());
        return mintable.isEmpty()
                ? Verdict.refused(new AccessRefusal.SubjectNotFound(subject, idp.value()))
                : Verdict.passed(new KeyList(subject, idp, List.copyOf(mintable.values())));
    }
}
