package io.mintmark.broker.exchange;

import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.Rejections;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.trace.Trace;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.grant.Catalogue;
import io.mintmark.broker.grant.Entitlements;
import io.mintmark.broker.grant.KnownIssuers;
import io.mintmark.broker.token.Examination;
import io.mintmark.broker.token.KeyWait;
import io.mintmark.broker.token.PresentedToken;
import io.mintmark.broker.token.TokenVerifier;
import io.mintmark.broker.token.VerifiedToken;

import org.slf4j.MDC;

import java.time.Duration;
import java.time.InstantSource;

/**
 * Verifies tokens against one state of their tenant: the identity provider that a token was
 * verified with is the one that the tenant has in the state which then decides.
 */
final class Admission {
    private static final int ATTEMPTS = 5;
    private static final Duration SOON = Duration.ofSeconds(1);

    private final TokenVerifier verifier;
    private final KnownIssuers issuers;
    private final Catalogue catalogue;
    private final Rejections rejections;
    private final RequestEvents events;
    private final InstantSource clock;
    private final MintListener listener;

    Admission(
            TokenVerifier verifier,
            KnownIssuers issuers,
            Catalogue catalogue,
            Rejections rejections,
            RequestEvents events,
            InstantSource clock,
            MintListener listener) {
        this.verifier = verifier;
        this.issuers = issuers;
        this.catalogue = catalogue;
        this.rejections = rejections;
        this.events = events;
        this.clock = clock;
        this.listener = listener;
    }

    /**
     * Verifies a token. One that isn't accepted is on record, if it is of a known issuer.
     *
     * @param wait called before the thread waits for an issuer's keys
     */
    Verdict<Admitted> admit(PresentedToken token, Caller caller, KeyWait wait) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Examination examination = examine(token, wait);
            examination.keysMissing().ifPresent(cause -> note(caller, examination, cause));
            switch (examination.verdict()) {
                case Verdict.Refused<VerifiedToken>(var refusal) -> {
                    RequestEvents.unverified(examination)
                            .ifPresent(subject -> reject(caller, subject, refusal));
                    return Verdict.refused(refusal);
                }
                case Verdict.Passed<VerifiedToken>(var verified) -> {
                    Entitlements entitlements = catalogue.entitlements(verified);
                    if (entitlements.acceptToken()) {
                        MDC.put("tenant", verified.provider().tenant().value());
                        Trace.ofTenant(verified.provider().tenant().value());
                        MDC.put("subject", verified.subject());
                        return Verdict.passed(new Admitted(verified, entitlements));
                    }
                }
            }
            issuers.changed();
        }
        throw new Unavailable("The token's identity provider is being changed; try again.", SOON);
    }

    /**
     * Verifies a token again, against the tenant's current configuration in the database. It never
     * waits for an issuer's keys, so it needs no permit, and any thread may call it.
     *
     * @throws Unavailable if the broker doesn't have the keys at hand
     */
    Verdict<Admitted> admitAgain(PresentedToken token, Caller caller, TenantName tenant) {
        catalogue.changed(tenant);
        return admit(token, caller, Admission::refuseToWait);
    }

    private static void refuseToWait(TenantName tenant) {
        throw new Unavailable(
                Unavailable.Part.ISSUER,
                "The signing keys of the token's issuer changed during the request; try again.",
                SOON);
    }

    private Examination examine(PresentedToken token, KeyWait wait) {
        long began = System.nanoTime();
        try {
            return Trace.step("verify_token", () -> verifier.examine(token, wait));
        } finally {
            listener.tokenExamined(Duration.ofNanos(System.nanoTime() - began));
        }
    }

    /** Uses up a token that works once. To be called once for a request. */
    Verdict<Admitted> redeem(Admitted admitted, Caller caller) {
        return switch (verifier.redeem(admitted.token())) {
            case Verdict.Passed<VerifiedToken> _ -> Verdict.passed(admitted);
            case Verdict.Refused<VerifiedToken>(var refusal) -> {
                reject(caller, RequestEvents.unverified(admitted.token()), refusal);
                yield Verdict.refused(refusal);
            }
        };
    }

    /** A token that can't be verified for now is on record like one that isn't accepted. */
    private void note(Caller caller, Examination examination, Unavailable cause) {
        RequestEvents.unverified(examination)
                .map(subject -> events.unverifiable(caller, subject, cause, clock.instant()))
                .ifPresent(rejections::note);
    }

    private void reject(Caller caller, Subject subject, Refusal refusal) {
        if (refusal instanceof TokenRefusal reason) {
            rejections.note(events.rejected(caller, subject, reason, clock.instant()));
        }
    }
}
