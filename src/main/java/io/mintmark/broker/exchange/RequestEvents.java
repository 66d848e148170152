package io.mintmark.broker.exchange;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Actor;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.Kind;
import io.mintmark.audit.MintEvents;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.TenantState;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.exchange.Intent.Order;
import io.mintmark.broker.grant.Granted;
import io.mintmark.broker.grant.Provider;
import io.mintmark.broker.token.Examination;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.VerifiedActor;
import io.mintmark.broker.token.VerifiedToken;

import org.slf4j.MDC;

import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Translates the result of a request to the terms of the audit log. */
final class RequestEvents {
    /** The {@code reason} of a token that could not be verified, because keys were missing. */
    static final String KEYS_UNAVAILABLE = "issuer_keys_unavailable";

    private static final String MINT_ID = "mintId";

    private final MintIds mintIds;

    RequestEvents(MintIds mintIds) {
        this.mintIds = mintIds;
    }

    /** The intent of a request: its subject and one order for each granted key. */
    Intent intent(MintRequest request, Admitted admitted, List<Granted> granted) {
        Subject subject = subject(admitted, granted);
        List<Order> orders =
                granted.stream()
                        .map(grant ->
                                new Order(
                                        events(
                                                request.caller(),
                                                subject,
                                                grant.key().name(),
                                                Optional.of(grant(grant, admitted))),
                                        grant,
                                        request.format().outputs(grant.key()),
                                        request.callerKey()))
                        .toList();
        log(orders.stream().map(Order::events).toList());
        return new Intent(admitted, orders);
    }

    /** The rows of the denied keys. */
    List<Event> denied(
            MintRequest request, Admitted admitted, Decision.Denied denied, Instant now) {
        Subject subject = subject(admitted, List.of());
        Map<MintEvents, String> reasons = new LinkedHashMap<>();
        denied.reasons()
                .forEach((key, reason) ->
                        reasons.put(
                                events(request.caller(), subject, key, Optional.empty()), reason));
        log(reasons.keySet());
        return reasons.entrySet().stream()
                .map(entry -> entry.getKey().denied(now, entry.getValue()))
                .toList();
    }

    /** Names the recorded mints in the request's access line. */
    private static void log(Collection<MintEvents> mints) {
        MDC.put("key", joined(mints, MintEvents::key));
        MDC.put(MINT_ID, joined(mints, MintEvents::mintId));
    }

    private static String joined(Collection<MintEvents> mints, Function<MintEvents, Object> what) {
        return mints.stream().map(what).map(Object::toString).collect(Collectors.joining(","));
    }

    /** The row of a token that was not accepted. */
    Event rejected(Caller caller, Subject subject, TokenRefusal refusal, Instant now) {
        return rejected(
                caller, subject, refusal.word(), TokenRefusalDetails.recorded(refusal), now);
    }

    /** The row of a token whose issuer's keys can't be had. */
    Event unverifiable(Caller caller, Subject subject, Unavailable cause, Instant now) {
        return rejected(
                caller,
                subject,
                KEYS_UNAVAILABLE,
                Optional.of(TokenRefusalDetails.recorded(cause)),
                now);
    }

    private Event rejected(
            Caller caller, Subject subject, String reason, Optional<String> detail, Instant now) {
        MintId mintId = mintIds.next();
        MDC.put(MINT_ID, mintId.toString());
        return new Event(
                mintId,
                Kind.REJECTED,
                now,
                Optional.of(caller),
                Optional.of(subject),
                Optional.empty(),
                Optional.empty(),
                Optional.of(reason),
                detail,
                Optional.empty(),
                Optional.empty());
    }

    /** The subject of a rejected token, if the broker knows its issuer. */
    static Optional<Subject> unverified(Examination examination) {
        return examination
                .knownIssuer()
                .map(issuer ->
                        unverified(issuer, examination.provider(), hex(examination.tokenHash())));
    }

    /** The subject of a token that was verified, and then rejected or its actor's token was. */
    static Subject unverified(VerifiedToken token, Optional<Examination> ofActor) {
        return unverified(
                        token.provider().issuer(), Optional.of(token.provider()), hex(token.hash()))
                .with(
                        ofActor.flatMap(actor ->
                                actor.knownIssuer()
                                        .map(issuer ->
                                                unverifiedActor(
                                                        issuer,
                                                        actor.provider(),
                                                        hex(actor.tokenHash())))));
    }

    /** The subject of tokens that were verified, of which one was used before. */
    static Subject verified(VerifiedToken token, Optional<VerifiedToken> ofActor) {
        return unverified(token, Optional.empty())
                .with(
                        ofActor.map(actor ->
                                unverifiedActor(
                                        actor.provider().issuer(),
                                        Optional.of(actor.provider()),
                                        hex(actor.hash()))));
    }

    private static Actor unverifiedActor(
            String issuer, Optional<IdentityProvider> provider, String tokenHash) {
        return new Actor(
                provider.map(IdentityProvider::name),
                issuer,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of(tokenHash));
    }

    private static Subject unverified(
            String issuer, Optional<IdentityProvider> provider, String tokenHash) {
        return new Subject(
                provider.map(IdentityProvider::tenant),
                provider.map(IdentityProvider::name),
                issuer,
                Optional.empty(),
                Optional.empty(),
                tokenHash,
                Optional.empty());
    }

    private MintEvents events(
            Caller caller, Subject subject, KeyName key, Optional<GrantReference> grant) {
        return new MintEvents(mintIds.next(), caller, subject, key, grant);
    }

    private static GrantReference grant(Granted granted, Admitted admitted) {
        Provider provider = granted.key().provider();
        TenantState state = admitted.entitlements().state();
        return new GrantReference(
                provider.name(),
                provider.type(),
                granted.grantId(),
                state.own().revision(),
                state.shared().revision(),
                CanonicalForm.DECISION.hash(
                        Arrays.asList(
                                admitted.entitlements().externalId().toString(),
                                admitted.token().provider().digest(),
                                provider.digest(),
                                granted.key().digest(),
                                granted.grantDigest(),
                                admitted.actor()
                                        .map(actor -> actor.provider().digest())
                                        .orElse(null))));
    }

    private static String hex(byte[] hash) {
        return HexFormat.of().formatHex(hash);
    }

    private static Subject subject(Admitted admitted, List<Granted> granted) {
        VerifiedToken token = admitted.token();
        return new Subject(
                Optional.of(token.provider().tenant()),
                Optional.of(token.provider().name()),
                token.provider().issuer(),
                Optional.of(token.subject()),
                token.tokenId(),
                hex(token.hash()),
                claims(admitted.entitlements().claimsLookedAt(granted)),
                admitted.actor().map(actor -> actor(actor, admitted, granted)));
    }

    private static Actor actor(VerifiedActor actor, Admitted admitted, List<Granted> granted) {
        return new Actor(
                Optional.of(actor.provider().name()),
                actor.provider().issuer(),
                Optional.of(actor.subject()),
                claims(admitted.entitlements().actorClaimsLookedAt(granted)),
                actor.token().flatMap(VerifiedToken::tokenId),
                actor.token().map(token -> hex(token.hash())));
    }

    private static Optional<String> claims(SortedMap<String, JsonNode> looked) {
        if (looked.isEmpty()) {
            return Optional.empty();
        }
        ObjectNode claims = JsonNodeFactory.instance.objectNode();
        looked.forEach(claims::set);
        return Optional.of(claims.toString());
    }
}
