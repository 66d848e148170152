package io.mintmark.broker.exchange;

import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.Rejections;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.trace.Trace;
import io.mintmark.base.verdict.MovedRefusal;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.TokenRefusal.OfActor;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.grant.Catalogue;
import io.mintmark.broker.grant.Entitlements;
import io.mintmark.broker.grant.KnownIssuers;
import io.mintmark.broker.grant.Parties;
import io.mintmark.broker.token.Examination;
import io.mintmark.broker.token.KeyWait;
import io.mintmark.broker.token.PresentedToken;
import io.mintmark.broker.token.Role;
import io.mintmark.broker.token.TokenVerifier;
import io.mintmark.broker.token.VerifiedActor;
import io.mintmark.broker.token.VerifiedToken;

import org.slf4j.MDC;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;

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
     * Verifies the token of a subject, and that of its actor if there is one. One that isn't
     * accepted is on record, if it is of a known issuer. Of the actor's nothing is said before its
     * signature is verified.
     *
     * @param wait called before the thread waits for an issuer's keys
     */
    Verdict<Admitted> admit(PresentedToken token, Caller caller, KeyWait wait) {
        return admit(token, caller, wait, Set.of(Role.SUBJECT));
    }

    /**
     * Admits a request that more than subjects may make.
     *
     * @param roles of which the token's identity provider must accept one
     */
    Verdict<Admitted> admit(PresentedToken token, Caller caller, KeyWait wait, Set<Role> roles) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Examination examination = examine(token.text(), wait);
            examination.keysMissing().ifPresent(cause -> note(caller, examination, cause));
            switch (examination.verdict()) {
                case Verdict.Refused<VerifiedToken>(var refusal) -> {
                    RequestEvents.unverified(examination)
                            .ifPresent(subject -> reject(caller, subject, refusal));
                    return Verdict.refused(refusal);
                }
                case Verdict.Passed<VerifiedToken>(var verified) -> {
                    switch (actor(verified, token, caller, wait, roles)) {
                        case Verdict.Refused<Optional<VerifiedActor>>(var refusal) -> {
                            return Verdict.refused(refusal);
                        }
                        case Verdict.Passed<Optional<VerifiedActor>>(var actor) -> {
                            Optional<Admitted> admitted = admitted(verified, actor, caller);
                            if (admitted.isPresent()) {
                                return here(admitted.get());
                            }
                        }
                    }
                }
            }
            issuers.changed();
        }
        throw new Unavailable("The token's identity provider is being changed; try again.", SOON);
    }

    /** The actor of a subject. An actor that isn't accepted is on record. */
    private Verdict<Optional<VerifiedActor>> actor(
            VerifiedToken subject,
            PresentedToken token,
            Caller caller,
            KeyWait wait,
            Set<Role> roles) {
        Optional<Examination> examination = token.actor().map(own -> examine(own, wait));
        examination.ifPresent(
                own -> own.keysMissing().ifPresent(cause -> note(caller, own, cause)));
        Verdict<Optional<VerifiedActor>> verdict =
                switch (examination.map(Examination::verdict).orElse(null)) {
                    case null -> VerifiedActor.of(subject, Optional.empty(), roles);
                    case Verdict.Passed<VerifiedToken>(var own) ->
                            VerifiedActor.of(subject, Optional.of(own), roles);
                    case Verdict.Refused<VerifiedToken>(var refusal) ->
                            Verdict.refused(ofActor(refusal));
                };
        if (verdict instanceof Verdict.Refused<Optional<VerifiedActor>>(var refusal)) {
            reject(caller, RequestEvents.unverified(subject, examination), refusal);
        }
        return verdict;
    }

    private static Refusal ofActor(Refusal refusal) {
        return refusal instanceof TokenRefusal reason ? new OfActor(reason) : refusal;
    }

    /**
     * The admitted request; empty if the tenant has other identity providers than those that
     * verified the tokens.
     */
    private Optional<Admitted> admitted(
            VerifiedToken token, Optional<VerifiedActor> actor, Caller caller) {
        String tenant = token.provider().tenant().value();
        Entitlements entitlements =
                catalogue.entitlements(
                        token.provider().tenant(), Parties.of(token, actor, caller.address()));
        if (!entitlements.accept(token.provider())
                || !actor.map(VerifiedActor::provider).map(entitlements::accept).orElse(true)) {
            return Optional.empty();
        }
        MDC.put("tenant", tenant);
        Trace.ofTenant(tenant);
        MDC.put("subject", token.subject());
        actor.ifPresent(acting -> MDC.put("actor", acting.subject()));
        return Optional.of(new Admitted(token, actor, entitlements));
    }

    /** Refuses requests of a tenant that moved to another cell. */
    private static Verdict<Admitted> here(Admitted admitted) {
        return admitted.entitlements()
                .place()
                .movedTo()
                .map(url -> new MovedRefusal(admitted.token().provider().tenant().value(), url))
                .<Verdict<Admitted>>map(Verdict::refused)
                .orElseGet(() -> Verdict.passed(admitted));
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

    private Examination examine(Secret token, KeyWait wait) {
        long began = System.nanoTime();
        try {
            return Trace.step("verify_token", () -> verifier.examine(token, wait));
        } finally {
            listener.tokenExamined(Duration.ofNanos(System.nanoTime() - began));
        }
    }

    /** Uses up the tokens that work once. To be called once for a request. */
    Verdict<Admitted> redeem(Admitted admitted, Caller caller) {
        Optional<VerifiedToken> ofActor = admitted.actor().flatMap(VerifiedActor::token);
        Optional<Refusal> refusal =
                refusal(verifier.redeem(admitted.token()))
                        .or(() ->
                                ofActor.flatMap(own -> refusal(verifier.redeem(own)))
                                        .map(Admission::ofActor));
        refusal.ifPresent(
                it -> reject(caller, RequestEvents.verified(admitted.token(), ofActor), it));
        return refusal.<Verdict<Admitted>>map(Verdict::refused)
                .orElseGet(() -> Verdict.passed(admitted));
    }

    private static Optional<Refusal> refusal(Verdict<VerifiedToken> verdict) {
        return verdict instanceof Verdict.Refused<VerifiedToken>(var refusal)
                ? Optional.of(refusal)
                : Optional.empty();
    }

    /**
     * Records a token in the audit log that couldn't be verified, for example because its issuer
     * was down. The client gets 503.
     */
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
