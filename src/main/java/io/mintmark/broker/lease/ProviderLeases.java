package io.mintmark.broker.lease;

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
import io.mintmark.broker.lease.LeaseListener.Result;
import io.mintmark.broker.lease.LeaseStore.AtProvider;
import io.mintmark.broker.lease.LeaseStore.Due;
import io.mintmark.broker.lease.LeaseStore.Open;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.LeaseRevocation;
import io.mintmark.provider.LeaseRevoker;
import io.mintmark.provider.LeaseRevoker.Left;
import io.mintmark.provider.LeaseRevoker.NotListed;
import io.mintmark.provider.LeaseRevoker.Place;
import io.mintmark.provider.LeaseRevoker.RevocationOrder;
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
public final class ProviderLeases {
    static final Duration BETWEEN_SWEEPS = Duration.ofMinutes(15);

    /**
     * The maximum number of listed credentials of an access provider in one sweep. The next sweep
     * handles the rest.
     */
    static final int OF_SWEEP = 1_000;

    private static final Logger log = LoggerFactory.getLogger(ProviderLeases.class);

    /**
     * The time for a replica's work besides the call. After it, another replica may claim the mint.
     */
    private static final Duration SLACK = Duration.ofSeconds(5);

    private final LeaseStore store;
    private final AccessProviders providers;
    private final Map<String, LeaseRevoker> revokers;
    private final AuditLog audit;
    private final InstantSource clock;
    private final Duration timeout;
    private final Duration claimed;
    private final LeaseListener listener;
    private final Pauses pauses;
    private volatile boolean stopped;

    /**
     * @param timeout within which a provider must have answered
     */
    public ProviderLeases(
            LeaseStore store,
            AccessProviders providers,
            AuditLog audit,
            InstantSource clock,
            RandomGenerator random,
            Duration timeout,
            LeaseListener listener) {
        this.store = store;
        this.providers = providers;
        this.revokers = Map.copyOf(providers.revokers());
        this.audit = audit;
        this.clock = clock;
        this.timeout = timeout;
        this.claimed = timeout.plus(SLACK).multipliedBy(2);
        this.listener = listener;
        this.pauses = new Pauses(clock, random);
    }

    /** The types whose mints can be ended. */
    Set<String> types() {
        return revokers.keySet();
    }

    boolean isPaused(ProviderId provider) {
        return pauses.isPaused(provider);
    }

    /** Claims no more mints. */
    void stop() {
        stopped = true;
    }

    /** Ends all due mints, until the provider fails. */
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
                                "Access provider {} still has objects of {} whose credentials expired; the broker removes these objects now",
                                at.id(),
                                noted == 1 ? "one mint" : noted + " mints");
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
            return revoker(at).leftBehind(place);
        } catch (NotListed | RuntimeException e) {
            log.warn(
                    "The objects of mints at access provider {} can't be listed: {}",
                    at.id(),
                    why(e));
            pauses.failed(at.id());
            return List.of();
        }
    }

    private static String why(Exception e) {
        return e instanceof NotListed
                ? String.valueOf(e.getMessage())
                : TimedCall.failed(e).detail();
    }

    /** Ends one mint. Returns whether to continue with the next. */
    private boolean end(Open open) {
        Optional<LeaseRevocation> ended =
                open.callNeeded()
                        ? calling(open.provider(), place -> ended(open, place))
                        : Optional.of(new LeaseRevocation.Gone("by itself"));
        if (ended.isEmpty()) {
            store.release(open.mint());
            return false;
        }
        switch (ended.get()) {
            case LeaseRevocation.Gone(String detail) ->
                    record(open, open.how(), Result.GONE, detail);
            case LeaseRevocation.Disarmed(String detail) ->
                    record(open, How.DISARMED, Result.DISARMED, detail);
            case LeaseRevocation.NotYet(var reason, String detail) -> {
                pauses.failed(open.provider().id());
                failed(open, reason, detail);
            }
            case LeaseRevocation.Stuck(var reason, String detail) -> {
                pauses.answered(open.provider().id());
                failed(open, reason, detail);
            }
        }
        return true;
    }

    private LeaseRevocation ended(Open open, Place place) {
        try {
            return revoker(open.provider()).revoke(new RevocationOrder(place, open.mint()));
        } catch (RuntimeException e) {
            return LeaseRevocation.not(TimedCall.failed(e));
        }
    }

    private LeaseRevoker revoker(AtProvider at) {
        return Objects.requireNonNull(revokers.get(at.type()));
    }

    /**
     * Calls a provider on behalf of its tenant. A revoker that ignores its deadline is interrupted.
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
                    "Access provider {} still has the credential of mint {}; the broker ends the credential now. The audit log lacks this mint, or already records the end of its credential",
                    open.provider().id(),
                    open.mint());
            store.forget(open.mint());
            return;
        }
        try {
            audit.record(List.of(event(open, open.key().get(), how, detail)));
            log.info(
                    "The credential of mint {} has ended: {}: {}", open.mint(), how.word(), detail);
        } catch (EventRefused e) {
            log.error("The audit log rejected the row 'ended' of mint {}", open.mint(), e);
            postpone(open, "audit_unavailable", "the audit log rejected the row");
        } catch (StoreUnreachable e) {
            log.warn(
                    "The end of the credential of mint {} can't be recorded now; the broker will end the credential again, and then record its end",
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
                "The credential of mint {} can't be ended at access provider {} ({}: {}); the next try is in {} s",
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
