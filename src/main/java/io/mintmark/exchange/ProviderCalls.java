package io.mintmark.exchange;

import io.mintmark.audit.Event.Credential;
import io.mintmark.grant.Provider;
import io.mintmark.mint.AccessPoint;
import io.mintmark.mint.AccessProviders;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.MintResult.Failed;
import io.mintmark.mint.MintResult.Minted;
import io.mintmark.mint.MintResult.NotCalled;
import io.mintmark.mint.MintResult.NotMinted;
import io.mintmark.mint.MintResult.Withheld;
import io.mintmark.token.VerifiedToken;
import io.mintmark.verdict.MintRefusal.Reason;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Asks the access providers, for all keys of a request at once, and judges what they give. */
final class ProviderCalls {
    /** How much longer than asked for a credential may live, counted from its receipt. */
    static final Duration TOLERANCE = Duration.ofSeconds(60);

    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");
    private static final Logger log = LoggerFactory.getLogger(ProviderCalls.class);

    private final AccessProviders providers;
    private final InstantSource clock;
    private final MintListener listener;

    ProviderCalls(AccessProviders providers, InstantSource clock, MintListener listener) {
        this.listener = listener;
        this.providers = providers;
        this.clock = clock;
    }

    /**
     * Mints every order and waits for all of them, whatever becomes of each: none is cancelled,
     * since a credential that nobody waits for would live on unrecorded. If the broker stops
     * meanwhile, calls that are still under way end as ones of which nobody knows what came.
     *
     * @return an outcome for each order, in their order
     */
    List<Outcome> mintAll(List<Order> orders, Admitted admitted, Instant deadline) {
        Map<String, String> context = MDC.getCopyOfContextMap();
        List<Future<Outcome>> calls;
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            calls =
                    orders.stream()
                            .map(order -> threads.submit(task(order, admitted, deadline, context)))
                            .toList();
        }
        return calls.stream().map(ProviderCalls::outcome).toList();
    }

    private Callable<Outcome> task(
            Order order,
            Admitted admitted,
            Instant deadline,
            @Nullable Map<String, String> context) {
        return () -> {
            MDC.setContextMap(context == null ? Map.of() : context);
            return mint(order, admitted, deadline);
        };
    }

    /** Of a call that is over. */
    private static Outcome outcome(Future<Outcome> call) {
        if (call.state() == Future.State.SUCCESS) {
            return call.resultNow();
        }
        log.error("A mint failed in the broker itself", call.exceptionNow());
        return new Outcome.Lost(Reason.PROVIDER_ERROR, "the broker failed");
    }

    private Outcome mint(Order order, Admitted admitted, Instant deadline) {
        AccessPoint access = access(order.granted().key().provider());
        MintResult result = ask(mintOrder(order, admitted, access, deadline));
        Outcome outcome =
                switch (result) {
                    case Minted minted -> judge(order, access, minted);
                    case Withheld withheld -> unfit(order, withheld);
                    case Failed(Reason reason, String detail) -> new Outcome.Lost(reason, detail);
                    case NotCalled(String detail) -> new Outcome.NotCalled(detail);
                };
        tell(order, outcome);
        return outcome;
    }

    private MintResult ask(MintOrder order) {
        long began = System.nanoTime();
        MintResult result = providers.mint(order);
        if (!(result instanceof NotCalled)) {
            listener.providerAnswered(
                    order.access().type(),
                    result instanceof Minted,
                    Duration.ofNanos(System.nanoTime() - began));
        }
        return result;
    }

    /**
     * Where nobody knows when a credential ends, it counts as living for as long as was asked for:
     * for ever would be as wrong, and would never leave the list of what lives.
     */
    private Outcome unfit(Order order, Withheld withheld) {
        Instant received = clock.instant();
        Instant asked = received.plus(order.granted().duration()).plus(TOLERANCE);
        return new Outcome.Unfit(
                note(withheld.credentialId(), received, withheld.expiresAt().orElse(asked)),
                withheld.reason(),
                withheld.detail());
    }

    private static Credential note(String id, Instant received, Instant end) {
        return new Credential(Optional.of(id), Optional.of(received), recordable(end));
    }

    private Outcome judge(Order order, AccessPoint access, Minted minted) {
        Instant received = clock.instant();
        Credential note = note(minted.credentialId(), received, minted.expiresAt());
        Duration asked = order.granted().duration();
        if (!minted.expiresAt().isAfter(received)) {
            return new Outcome.Unfit(
                    note,
                    Reason.PROVIDER_ERROR,
                    "the credential had expired at %s, when it came".formatted(minted.expiresAt()));
        }
        if (minted.expiresAt().isAfter(received.plus(asked).plus(TOLERANCE))) {
            return new Outcome.Unfit(
                    note,
                    Reason.PROVIDER_ERROR,
                    "a credential for %s was asked for, and this one lives until %s"
                            .formatted(asked, minted.expiresAt()));
        }
        return switch (providers.outputs(access, order.outputs()).name(minted)) {
            case Minted named -> new Outcome.Obtained(note, named.fields());
            case NotMinted why -> new Outcome.Unfit(note, why.reason(), why.detail());
        };
    }

    /** Providers say what they like, and the log's times have four digits for the year. */
    private static Instant recordable(Instant end) {
        if (end.isAfter(LATEST)) {
            return LATEST;
        }
        return end.isBefore(Instant.EPOCH) ? Instant.EPOCH : end;
    }

    private static void tell(Order order, Outcome outcome) {
        switch (outcome) {
            case Outcome.Obtained _ -> log.debug("Mint {} succeeded", order.events().mintId());
            case Outcome.Unfit(_, Reason reason, String detail) ->
                    tell(order, "was dropped", reason.word(), detail);
            case Outcome.Lost(Reason reason, String detail) ->
                    tell(order, "failed", reason.word(), detail);
            case Outcome.NotCalled(String detail) ->
                    tell(order, "wasn't tried", Outcome.TENANT_BUSY, detail);
        }
    }

    private static void tell(Order order, String what, String reason, String detail) {
        log.warn(
                "Mint {} of key '{}' {}: {}: {}",
                order.events().mintId(),
                order.events().key(),
                what,
                reason,
                detail);
    }

    private static MintOrder mintOrder(
            Order order, Admitted admitted, AccessPoint access, Instant deadline) {
        VerifiedToken token = admitted.token();
        return new MintOrder(
                order.events().mintId(),
                token.provider().tenant(),
                admitted.entitlements().externalId(),
                admitted.entitlements().maxCalls(),
                order.granted().key().name(),
                token.provider().name(),
                token.subject(),
                access,
                order.granted().key().settings(),
                order.granted().duration(),
                deadline);
    }

    private static AccessPoint access(Provider provider) {
        return new AccessPoint(
                provider.name(),
                provider.type(),
                provider.settings(),
                provider.allowedTargets(),
                provider.sharedIdentity());
    }
}
