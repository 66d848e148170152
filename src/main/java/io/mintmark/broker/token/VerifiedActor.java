package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.TokenRefusal.ActorFault;
import io.mintmark.base.verdict.TokenRefusal.ActorMismatch;
import io.mintmark.base.verdict.TokenRefusal.ActorNotAccepted;
import io.mintmark.base.verdict.TokenRefusal.ActorNotAllowed;
import io.mintmark.base.verdict.TokenRefusal.OfActor;
import io.mintmark.base.verdict.TokenRefusal.SubjectNotAccepted;
import io.mintmark.base.verdict.Verdict;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Who acts for the subject of a verified token: by a verified token of its own, or by the claim
 * {@code act} in the subject's token (RFC 8693 section 4.1).
 *
 * @param provider the identity provider that says so
 * @param token the actor's own, if it presented one
 * @param claims of the actor, as conditions see them
 * @param act the claim {@code act} for credentials of this request
 */
public record VerifiedActor(
        IdentityProvider provider,
        String subject,
        Optional<VerifiedToken> token,
        ObjectNode claims,
        ObjectNode act) {

    /**
     * The actor of a request, if it has one.
     *
     * @param subject the subject's token
     * @param token what the actor presented
     */
    public static Verdict<Optional<VerifiedActor>> of(
            VerifiedToken subject, Optional<VerifiedToken> token) {
        return of(subject, token, Set.of(Role.SUBJECT));
    }

    /**
     * Who acts in a request that more than subjects may make.
     *
     * @param roles of which the subject's identity provider must accept one
     */
    public static Verdict<Optional<VerifiedActor>> of(
            VerifiedToken subject, Optional<VerifiedToken> token, Set<Role> roles) {
        if (Collections.disjoint(subject.provider().accepts(), roles)) {
            return Verdict.refused(new SubjectNotAccepted());
        }
        Optional<ObjectNode> act = ActClaim.in(subject.rawClaims());
        Optional<TokenRefusal> fault = token.flatMap(actor -> fault(subject, act, actor));
        if (fault.isPresent()) {
            return Verdict.refused(fault.get());
        }
        Optional<VerifiedActor> actor =
                token.map(own -> byToken(own, act.orElse(null)))
                        .or(() -> act.flatMap(claim -> byClaim(subject, claim)));
        if (actor.isEmpty() && act.isPresent()) {
            return Verdict.refused(new ActorNotAccepted(ActorFault.CLAIM_OF_OTHERS));
        }
        if (actor.filter(acting -> acting.isPartyOf(subject)).isPresent()) {
            return Verdict.refused(ofActor(new ActorNotAccepted(ActorFault.SUBJECT_ITSELF), token));
        }
        return isAllowed(subject, actor)
                ? Verdict.passed(actor)
                : Verdict.refused(ofActor(new ActorNotAllowed(), token));
    }

    private static TokenRefusal ofActor(TokenRefusal refusal, Optional<VerifiedToken> token) {
        return token.isPresent() ? new OfActor(refusal) : refusal;
    }

    /**
     * Whether the subject acts for itself, which would let one party use a grant for two: anyone
     * can get a second token of their own.
     */
    private boolean isPartyOf(VerifiedToken subjects) {
        return subject.equals(subjects.subject())
                && provider.issuer().equals(subjects.provider().issuer());
    }

    /** A token that is used by somebody else, or is the subject's very token, names no actor. */
    private static Optional<TokenRefusal> fault(
            VerifiedToken subject, Optional<ObjectNode> act, VerifiedToken actor) {
        Optional<ActorFault> fault = actorFault(subject, actor);
        if (fault.isPresent()) {
            return fault.map(ActorNotAccepted::new).map(OfActor::new);
        }
        return act.filter(claim ->
                        !ActClaim.subject(claim).equals(Optional.of(actor.subject()))
                                || !ActClaim.isOf(
                                        claim,
                                        subject.provider().issuer(),
                                        actor.provider().issuer()))
                .map(_ -> new OfActor(new ActorMismatch()));
    }

    private static Optional<ActorFault> actorFault(VerifiedToken subject, VerifiedToken actor) {
        if (!actor.provider().tenant().equals(subject.provider().tenant())) {
            return Optional.of(ActorFault.OTHER_TENANT);
        } else if (Arrays.equals(actor.hash(), subject.hash())) {
            return Optional.of(ActorFault.SUBJECT_ITSELF);
        } else if (!actor.provider().accepts().contains(Role.ACTOR)) {
            return Optional.of(ActorFault.PROVIDER_ACCEPTS_NONE);
        }
        return ActClaim.in(actor.rawClaims()).map(_ -> ActorFault.DELEGATED);
    }

    private static VerifiedActor byToken(VerifiedToken own, @Nullable ObjectNode act) {
        return new VerifiedActor(
                own.provider(),
                own.subject(),
                Optional.of(own),
                own.claims(),
                ActClaim.of(own.provider().issuer(), own.subject(), act));
    }

    /** An actor of the token's own identity provider; empty if the claim names another, or none. */
    private static Optional<VerifiedActor> byClaim(VerifiedToken subject, ObjectNode act) {
        IdentityProvider provider = subject.provider();
        return ActClaim.subject(act)
                .filter(_ -> ActClaim.isOf(act, provider.issuer(), provider.issuer()))
                .map(name ->
                        new VerifiedActor(
                                provider,
                                name,
                                Optional.empty(),
                                ComparableClaims.of(act),
                                ActClaim.of(provider.issuer(), name, act)));
    }

    /**
     * The claim {@code may_act} (RFC 8693 section 4.4) must mean the actor, and then one must act.
     */
    private static boolean isAllowed(VerifiedToken subject, Optional<VerifiedActor> actor) {
        JsonNode only = subject.rawClaims().path("may_act");
        if (only.isMissingNode()) {
            return true;
        }
        return actor.filter(acting ->
                        ActClaim.subject(only).equals(Optional.of(acting.subject()))
                                && ActClaim.isOf(
                                        only,
                                        subject.provider().issuer(),
                                        acting.provider().issuer()))
                .isPresent();
    }

    /** The claim {@code act} for credentials, as JSON values. */
    public Map<String, Object> actClaim() {
        return values(act);
    }

    private static Map<String, Object> values(ObjectNode object) {
        Map<String, Object> values = new LinkedHashMap<>();
        object.properties()
                .forEach(member ->
                        values.put(
                                member.getKey(),
                                member.getValue() instanceof ObjectNode nested
                                        ? values(nested)
                                        : member.getValue().asText()));
        return values;
    }

    /** Shows no claim. */
    @Override
    public String toString() {
        return "VerifiedActor[provider=%s]".formatted(provider.name());
    }
}
