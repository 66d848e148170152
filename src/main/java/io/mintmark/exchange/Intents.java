package io.mintmark.exchange;

import io.mintmark.audit.Event;
import io.mintmark.audit.Receipt;
import io.mintmark.grant.Granted;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;
import io.mintmark.verdict.RequestRefusal;
import io.mintmark.verdict.Unavailable;
import io.mintmark.verdict.Verdict;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Decides and records the intent. The commit of the intent tells the tenant's state; if that is any
 * other than the one decided on, the decision is made again, so that no mint starts on a grant that
 * was revoked.
 */
final class Intents {
    /** The {@code reason} of an intent that a changed configuration overtook. */
    static final String OVERTAKEN = "decided_again";

    /** The {@code reason} of an intent whose commit could not be made sure of. */
    static final String UNSURE = "audit_unavailable";

    private static final String NOT_CALLED = "the provider wasn't called";
    private static final int ATTEMPTS = 5;
    private static final Duration SOON = Duration.ofSeconds(1);

    private final Decider decider;
    private final Records records;
    private final RequestEvents events;
    private final InstantSource clock;
    private final Duration slack;

    /** Decides on the state that the tenant has now. */
    interface Decider {
        Verdict<Admitted> admitAnew(MintRequest request, TenantName tenant);
    }

    /**
     * @param slack how much longer than its duration a credential could live, counted from now: the
     *     time that the provider may take, and what it may give on top
     */
    Intents(
            Decider decider,
            Records records,
            RequestEvents events,
            InstantSource clock,
            Duration slack) {
        this.decider = decider;
        this.records = records;
        this.events = events;
        this.clock = clock;
        this.slack = slack;
    }

    /** Decides, and returns what is to be minted once that is on record. */
    Verdict<Intent> record(MintRequest request, Admitted first) {
        Verdict<Admitted> current = Verdict.passed(first);
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            if (!(current instanceof Verdict.Passed<Admitted>(Admitted admitted))) {
                return current.then(_ -> unreachable());
            }
            Instant now = clock.instant();
            switch (Decision.of(admitted, request.keys(), now)) {
                case Decision.Denied denied -> {
                    return deny(request, admitted, denied, now);
                }
                case Decision.Allowed(List<Granted> granted) -> {
                    Optional<RequestRefusal> objection = request.format().objection(granted);
                    if (objection.isPresent()) {
                        return Verdict.refused(objection.get());
                    }
                    Intent intent = events.intent(request, admitted, granted);
                    TenantState state = commit(intent, now);
                    current = decideAgain(request, intent, state);
                    Optional<Intent> standing = standing(intent, state, current, request, now);
                    if (standing.isPresent()) {
                        return Verdict.passed(standing.get());
                    }
                    overtaken(intent);
                }
            }
        }
        throw new Unavailable("The tenant's configuration is being changed; try again.", SOON);
    }

    private static Verdict<Intent> unreachable() {
        throw new IllegalStateException("a refusal has no value");
    }

    private Verdict<Intent> deny(
            MintRequest request, Admitted admitted, Decision.Denied denied, Instant now) {
        List<Event> rows = events.denied(request, admitted, denied, now);
        records.commit(rows, List::of);
        return Verdict.refused(denied.refusal());
    }

    private TenantState commit(Intent intent, Instant now) {
        List<Event> rows =
                intent.orders().stream()
                        .map(order ->
                                order.events()
                                        .requested(
                                                now,
                                                now.plus(order.granted().duration()).plus(slack)))
                        .toList();
        Receipt receipt =
                records.commit(rows, () -> intent.failed(clock.instant(), UNSURE, NOT_CALLED));
        return receipt.state(tenant(intent));
    }

    private static TenantName tenant(Intent intent) {
        return intent.admitted().token().provider().tenant();
    }

    /**
     * The same, if the commit found the state that it was decided on; else decided on a new one.
     */
    private Verdict<Admitted> decideAgain(MintRequest request, Intent intent, TenantState state) {
        if (state.equals(intent.admitted().entitlements().state())) {
            return Verdict.passed(intent.admitted());
        }
        try {
            return decider.admitAnew(request, tenant(intent));
        } catch (Unavailable e) {
            records.recordLater(intent.failed(clock.instant(), UNSURE, NOT_CALLED));
            throw e;
        }
    }

    /**
     * The intent as it is after the commit, if the decision is the same in the state that the
     * commit found, and no grant has ended while the log was written.
     */
    private Optional<Intent> standing(
            Intent intent,
            TenantState state,
            Verdict<Admitted> current,
            MintRequest request,
            Instant now) {
        return current instanceof Verdict.Passed<Admitted>(Admitted next)
                        && next.entitlements().state().equals(state)
                        && Decision.of(next, request.keys(), now)
                                instanceof Decision.Allowed(List<Granted> granted)
                        && granted.equals(intent.orders().stream().map(Order::granted).toList())
                ? intent.asOf(clock.instant())
                : Optional.empty();
    }

    private void overtaken(Intent intent) {
        records.commitOrRecordLater(
                intent.failed(
                        clock.instant(),
                        OVERTAKEN,
                        "the configuration changed, or a grant ended, before the provider was"
                                + " called"));
    }
}
