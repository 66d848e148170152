package io.mintmark.broker.exchange;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.trace.Trace;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.RequestRefusal.SharedOutputs;
import io.mintmark.base.verdict.RequestRefusal.UnacceptedOutputs;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.exchange.Intent.Order;
import io.mintmark.broker.grant.Key;
import io.mintmark.broker.token.VerifiedActor;
import io.mintmark.broker.token.VerifiedToken;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.FreshDecision;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.NotCalled;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.PreparedKey;
import io.mintmark.provider.TimedCall;
import io.mintmark.provider.TimedCall.Answer;
import io.opentelemetry.api.trace.Span;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Asks the access providers, for all keys of a request at once, and judges what they give. */
final class ProviderCalls {
    private static final Logger log = LoggerFactory.getLogger(ProviderCalls.class);

    private final AccessProviders providers;
    private final PreparedKeys keys;
    private final Undoing undoing;
    private final InstantSource clock;
    private final MintListener listener;
    private final ShortLives shortLives;

    ProviderCalls(
            AccessProviders providers,
            Undoing undoing,
            InstantSource clock,
            MintListener listener) {
        this.providers = providers;
        this.keys = new PreparedKeys(providers);
        this.undoing = undoing;
        this.clock = clock;
        this.listener = listener;
        this.shortLives = new ShortLives(listener);
    }

    /** An order that its provider has been asked for. */
    private record Asked(Order order, PreparedKey key, TimedCall call, Span span) {}

    /** The intent, unless the client wants a key certified that its provider can't certify. */
    Verdict<Intent> certifiable(Intent intent) {
        return intent.orders().stream()
                .flatMap(order ->
                        order.callerKey().stream()
                                .flatMap(key ->
                                        providers
                                                .objection(
                                                        PreparedKeys.access(
                                                                order.granted().key().provider()),
                                                        intent.tenant(),
                                                        key)
                                                .stream()))
                .findFirst()
                .map(why ->
                        Verdict.<Intent>refused(new BadField("body", "The key %s.".formatted(why))))
                .orElseGet(() -> Verdict.passed(intent));
    }

    /** The intent, unless a credential would have members that the client can't use. */
    Verdict<Intent> accepted(Intent intent, CredentialFormat format) {
        if (format.acceptsAll()) {
            return Verdict.passed(intent);
        }
        Set<String> before = new HashSet<>();
        for (Order order : intent.orders()) {
            Key key = order.granted().key();
            Set<String> members = keys.of(key).outputs(order.outputs()).fieldByMember().keySet();
            List<String> unaccepted = format.unaccepted(members);
            if (!unaccepted.isEmpty()) {
                return Verdict.refused(new UnacceptedOutputs(key.name().value(), unaccepted));
            }
            List<String> shared = format.shared(members, before);
            if (!shared.isEmpty()) {
                return Verdict.refused(new SharedOutputs(key.name().value(), shared));
            }
            before.addAll(members);
        }
        return Verdict.passed(intent);
    }

    /**
     * Calls all providers and waits for all of them. None is cancelled when another fails, because
     * its credential would exist unrecorded. If the broker stops meanwhile, the calls in flight end
     * with an unknown outcome.
     *
     * @return an outcome for each order, in their order
     */
    List<Outcome> mintAll(Intent intent, Instant deadline, FreshDecision decision) {
        List<Asked> asked =
                intent.orders().stream()
                        .map(order -> ask(order, intent.admitted(), deadline, decision))
                        .toList();
        return asked.stream().map(one -> outcome(intent.tenant(), one)).toList();
    }

    private Asked ask(Order order, Admitted admitted, Instant deadline, FreshDecision decision) {
        PreparedKey key = keys.of(order.granted().key());
        MintOrder asked = mintOrder(order, admitted, deadline, decision);
        Span span = Trace.begin("call_provider");
        TimedCall call = providers.begin(key, asked, late -> undoLate(asked.tenant(), order, late));
        return new Asked(order, key, call, span);
    }

    /** Revokes a credential whose mint counts as failed, because it came after the deadline. */
    private void undoLate(TenantName tenant, Order order, MintResult late) {
        switch (late) {
            case Minted _, Withheld _ -> {
                logFailure(
                        order,
                        "came late",
                        Reason.PROVIDER_TIMEOUT.word(),
                        "a credential arrived after the deadline, so it was not returned");
                undoing.start(tenant, new Outcome(order, late, clock.instant()));
            }
            case Failed _, NotCalled _ -> {}
        }
    }

    private Outcome outcome(TenantName tenant, Asked asked) {
        Answer answer = asked.call().await();
        Order order = asked.order();
        if (!(answer.result() instanceof NotCalled)) {
            listener.providerAnswered(
                    order.granted().key().provider().type(),
                    answer.result() instanceof Minted,
                    answer.taken());
        }
        MintResult result =
                answer.result() instanceof Minted minted
                        ? judged(tenant, minted, answer.at(), asked)
                        : answer.result();
        logFailure(order, result);
        end(asked.span(), order, result);
        return new Outcome(order, result, answer.at());
    }

    private static void end(Span span, Order order, MintResult result) {
        span.setAttribute("mintmark.key", order.granted().key().name().value());
        span.setAttribute("mintmark.mint_id", order.events().mintId().toString());
        span.setAttribute("mintmark.outcome", result.getClass().getSimpleName());
        span.end();
    }

    /** The credential under the names that its client sees, if it is what was asked for. */
    private MintResult judged(TenantName tenant, Minted minted, Instant received, Asked asked) {
        Duration duration = asked.order().granted().duration();
        if (!minted.expiresAt().isAfter(received)) {
            return unfit(
                    minted,
                    Reason.PROVIDER_ERROR,
                    "the credential expired at %s, before it arrived"
                            .formatted(minted.expiresAt()));
        }
        if (minted.expiresAt().isAfter(received.plus(duration).plus(Outcome.TOLERANCE))) {
            return unfit(
                    minted,
                    Reason.PROVIDER_ERROR,
                    "a credential for %s was requested, but this one is valid until %s"
                            .formatted(duration, minted.expiresAt()));
        }
        return switch (asked.key().outputs(asked.order().outputs()).name(minted)) {
            case Minted named when asked.key().choosesLife() -> named;
            case Minted named -> shortLives.noted(tenant, asked.order(), named, received);
            case MintResult.NotMinted why -> unfit(minted, why.reason(), why.detail());
        };
    }

    private static Withheld unfit(Minted minted, Reason reason, String detail) {
        return new Withheld(
                minted.credentialId(),
                Optional.of(minted.expiresAt()),
                reason,
                detail,
                minted.undo());
    }

    private static void logFailure(Order order, MintResult result) {
        switch (result) {
            case Minted _ -> log.debug("Mint {} succeeded", order.events().mintId());
            case Withheld(_, _, Reason reason, String detail, _) ->
                    logFailure(order, "was dropped", reason.word(), detail);
            case Failed(Reason reason, String detail) ->
                    logFailure(order, "failed", reason.word(), detail);
            case NotCalled(var why, String detail) ->
                    logFailure(order, "wasn't tried", Outcome.word(why), detail);
        }
    }

    private static void logFailure(Order order, String what, String reason, String detail) {
        log.warn(
                "Mint {} of key '{}' {}: {}: {}",
                order.events().mintId(),
                order.events().key(),
                what,
                reason,
                detail);
    }

    private static MintOrder mintOrder(
            Order order, Admitted admitted, Instant deadline, FreshDecision decision) {
        VerifiedToken token = admitted.token();
        return new MintOrder(
                order.events().mintId(),
                token.provider().tenant(),
                admitted.entitlements().externalId(),
                admitted.entitlements().maxCalls(),
                order.granted().key().provider().name(),
                order.granted().key().name(),
                token.provider().name(),
                token.subject(),
                order.granted().duration(),
                deadline,
                decision,
                order.callerKey(),
                admitted.actor().map(ProviderCalls::actor),
                admitted.entitlements().place().issuer());
    }

    private static MintOrder.Actor actor(VerifiedActor actor) {
        return new MintOrder.Actor(actor.provider().name(), actor.subject(), actor.actClaim());
    }
}
