package io.mintmark.broker.exchange;

import io.mintmark.audit.Event;
import io.mintmark.audit.Receipt;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.base.trace.Trace;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.grant.Granted;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/** Decides what a request may mint, and records it before any provider is called. */
final class Intents {
    /** The {@code reason} of an intent that a changed configuration overtook. */
    static final String OVERTAKEN = "decided_again";

    /** The {@code reason} of an intent whose commit could not be made sure of. */
    static final String UNSURE = "audit_unavailable";

    private static final String NOT_CALLED = "the provider wasn't called";

    private final Records records;
    private final RequestEvents events;
    private final InstantSource clock;
    private final Duration slack;

    /**
     * @param slack the time that a credential may be valid beyond its duration, counted from now:
     *     the provider's time limit and the tolerance for its expiry
     */
    Intents(Records records, RequestEvents events, InstantSource clock, Duration slack) {
        this.records = records;
        this.events = events;
        this.clock = clock;
        this.slack = slack;
    }

    /** Decides whether the subject may have the keys. Where it may not, that is on record. */
    Verdict<Intent> decide(MintRequest request, Admitted admitted, TimeBounds now) {
        return switch (Trace.step("decide", () -> Decision.of(admitted, request, now))) {
            case Decision.Denied denied -> {
                records.commit(events.denied(request, admitted, denied, clock.instant()), List::of);
                yield Verdict.refused(denied.refusal());
            }
            case Decision.Invalid(Refusal refusal) -> Verdict.refused(refusal);
            case Decision.Allowed(List<Granted> granted) ->
                    Verdict.passed(events.intent(request, admitted, granted));
        };
    }

    /** Commits the intent. The receipt shows the state that the tenant is in after that. */
    Receipt commit(Intent intent) {
        Instant now = clock.instant();
        List<Event> rows =
                intent.orders().stream()
                        .map(order ->
                                order.events()
                                        .requested(
                                                now,
                                                now.plus(order.granted().duration()).plus(slack)))
                        .toList();
        return Trace.step(
                "commit_intent",
                () ->
                        records.commit(
                                rows, () -> intent.failed(clock.instant(), UNSURE, NOT_CALLED)));
    }

    /** Records, later, that an intent failed because it can't be decided again. */
    void notCalled(Intent intent) {
        records.recordLater(intent.failed(clock.instant(), UNSURE, NOT_CALLED));
    }

    /** Records that an intent failed because its decision no longer holds. */
    void overtaken(Intent intent) {
        records.commitOrRecordLater(
                intent.failed(
                        clock.instant(),
                        OVERTAKEN,
                        "the configuration changed, or a grant ended, before the provider was"
                                + " called"));
    }
}
