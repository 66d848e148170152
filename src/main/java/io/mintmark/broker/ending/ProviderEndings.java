package io.mintmark.broker.ending;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Event;
import io.mintmark.audit.Event.End;
import io.mintmark.audit.Event.How;
import io.mintmark.audit.EventRefused;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.time.Timeout;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.broker.ending.EndingListener.Result;
import io.mintmark.broker.ending.EndingStore.AtProvider;
import io.mintmark.broker.ending.EndingStore.Due;
import io.mintmark.broker.ending.EndingStore.Open;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.Ended;
import io.mintmark.provider.Ender;
import io.mintmark.provider.Ender.EndOrder;
import io.mintmark.provider.Ender.Left;
import io.mintmark.provider.Ender.NotListed;
import io.mintmark.provider.Ender.Place;
import io.mintmark.provider.TimedCall;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Ends mints at one access provider, one after the other. The statement that records an end removes
 * the mint from the store, so a replica that dies in between ends it again, which changes nothing.
 */
public final class ProviderEndings {
    static final Duration BETWEEN_SWEEPS = Duration.ofMinutes(15);

    /** Of what an access provider lists; the rest is for the next sweep. */
    static final int OF_SWEEP = 1_000;

    private static final Logger log = LoggerFactory.getLogger(ProviderEndings.class);

    /** For what the replica does besides the call; then another may claim the mint. */
    private static final Duration SLACK = Duration.ofSeconds(5);

    private final EndingStore store;
    private final AccessProviders providers;
    private final Map<String, Ender> enders;
    private final AuditLog audit;
    private final InstantSource clock;
    private final Duration timeout;
    private final Duration claimed;
    private final EndingListener listener;
    private final Pauses pauses;
    private volatile boolean stopped;

    /**
     * @param timeout within which a provider must have answered
     */
    public ProviderEndings(
            EndingStore store,
            AccessProviders providers,
            AuditLog audit,
            InstantSource clock,
            RandomGenerator random,
            Duration timeout,
            EndingListener listener) {
        this.store = store;
        this.providers = providers;
        this.enders = Map.copyOf(providers.enders());
        this.audit = audit;
        this.clock = clock;
        this.timeout = timeout;
        this.claimed = timeout.plus(SLACK).multipliedBy(2);
        this.listener = listener;
        this.pauses = new Pauses(clock, random);
    }

    /** The types whose mints it can end. */
    Set<String> types() {
        return enders.keySet();
    }

    boolean isPaused(ProviderId provider) {
        return pauses.isPaused(provider);
    }

    /** Claims no more mints. */
    void stop() {
        stopped = true;
    }

    /** Ends all that is due, until the provider fails. */
    void run(Due due) {
        ProviderId id = due.provider();
        if (due.sweep()) {
            store.claimSweep(id, BETWEEN_SWEEPS).ifPresent(this::sweep);
        }
        boolean more = true;
        while (more && !stopped && !isPaused(id)) {
            more = store.claim(id, claimed).map(this::end).orElse(false);
        }
    }

    private void sweep(AtProvider at) {
        calling(at, place -> listed(at, place))
                .ifPresent(left -> {
                    long noted =
                            store.noteLeftBehind(at.id(), mints(left, true), mints(left, false));
                    if (noted > 0) {
                        log.warn(
                                "Access provider {} still lists {} whose time is over; the broker"
                                        + " ends what is left now",
                                at.id(),
                                noted == 1 ? "a mint" : noted + " mints");
                    }
                });
    }

    private static List<MintId> mints(List<Left> left, boolean over) {
        return left.stream()
                .filter(each -> each.over() == over)
                .limit(OF_SWEEP)
                .map(Left::mint)
                .toList();
    }

    private List<Left> listed(AtProvider at, Place place) {
        try {
            return ender(at).leftBehind(place);
        } catch (NotListed | RuntimeException e) {
            log.warn("Access provider {} can't list what mints left behind: {}", at.id(), why(e));
            pauses.failed(at.id());
            return List.of();
        }
    }

    private static String why(Exception e) {
        return e instanceof NotListed
                ? String.valueOf(e.getMessage())
                : TimedCall.failed(e).detail();
    }

    /** Ends one mint. Returns whether to go on with the next. */
    private boolean end(Open open) {
        Optional<Ended> ended =
                open.callNeeded()
                        ? calling(open.provider(), place -> ended(open, place))
                        : Optional.of(new Ended.Gone("by itself"));
        if (ended.isEmpty()) {
            store.release(open.mint());
            return false;
        }
        switch (ended.get()) {
            case Ended.Gone(String detail) -> record(open, open.how(), Result.GONE, detail);
            case Ended.Disarmed(String detail) ->
                    record(open, How.DISARMED, Result.DISARMED, detail);
            case Ended.NotYet(var reason, String detail) -> {
                pauses.failed(open.provider().id());
                failed(open, reason, detail);
            }
            case Ended.Stuck(var reason, String detail) -> {
                pauses.answered(open.provider().id());
                failed(open, reason, detail);
            }
        }
        return true;
    }

    private Ended ended(Open open, Place place) {
        try {
            return ender(open.provider()).end(new EndOrder(place, open.mint()));
        } catch (RuntimeException e) {
            return Ended.not(TimedCall.failed(e));
        }
    }

    private Ender ender(AtProvider at) {
        return Objects.requireNonNull(enders.get(at.type()));
    }

    /**
     * Calls a provider on behalf of its tenant. An ender that ignores its deadline is interrupted.
     *
     * @return empty if the tenant has as many calls in flight as it may have
     */
    private <T> Optional<T> calling(AtProvider at, Function<Place, T> call) {
        Place place =
                new Place(
                        at.id().tenant(),
                        at.id().name(),
                        at.settings(),
                        clock.instant().plus(timeout));
        Supplier<T> bounded =
                () -> {
                    try (Timeout _ =
                            Timeout.after(timeout.plus(SLACK), Thread.currentThread()::interrupt)) {
                        return call.apply(place);
                    } finally {
                        var _ = Thread.interrupted();
                    }
                };
        return providers.call(place, at.maxCalls(), bounded);
    }

    private void record(Open open, How how, Result result, String detail) {
        listener.tried(open.provider().type(), result);
        pauses.answered(open.provider().id());
        if (open.key().isEmpty()) {
            log.warn(
                    "Mint {} was left behind at access provider {}; the broker ends it now. The"
                            + " audit log lacks this mint, or already has its end",
                    open.mint(),
                    open.provider().id());
            store.forget(open.mint());
            return;
        }
        try {
            audit.record(List.of(event(open, open.key().get(), how, detail)));
            log.info("Mint {} has ended: {}: {}", open.mint(), how.word(), detail);
        } catch (EventRefused e) {
            log.error("The audit log doesn't take the end of mint {}", open.mint(), e);
            postpone(open, "audit_unavailable", "the audit log didn't take the row");
        } catch (StoreUnreachable e) {
            log.warn(
                    "The end of mint {} can't be recorded now; it will be ended again",
                    open.mint(),
                    e);
        }
    }

    private void failed(Open open, Reason reason, String detail) {
        listener.tried(open.provider().type(), Result.NOT_YET);
        postpone(open, reason.word(), detail);
    }

    private void postpone(Open open, String reason, String detail) {
        Duration pause = pauses.after(open.tries() + 1);
        log.warn(
                "Mint {} can't be ended at access provider {}: {}: {}; the next try is in {} s",
                open.mint(),
                open.provider().id(),
                reason,
                detail,
                pause.toSeconds());
        store.postpone(open.mint(), reason, detail, pause);
    }

    private Event event(Open open, KeyName key, How how, String detail) {
        ProviderId id = open.provider().id();
        End end = new End(id.tenant(), id.name(), open.provider().type(), open.credentialId());
        return Event.ended(open.mint(), clock.instant(), key, end, how, Optional.of(detail));
    }
}
