package io.mintmark.exchange;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Credential;
import io.mintmark.audit.Kind;
import io.mintmark.outbound.Secret;
import io.mintmark.tenant.KeyName;
import io.mintmark.verdict.MintRefusal;
import io.mintmark.verdict.Unavailable;
import io.mintmark.verdict.Verdict;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Mints what is on record as intended, all or nothing: if one key fails, the credentials of the
 * others are dropped and recorded as withheld. Nothing is handed out before its row is committed.
 */
final class Mints {
    /** The {@code reason} of a credential that was dropped because another key failed. */
    static final String OTHER_KEY_FAILED = "other_key_failed";

    /** When it is worth to try again where the tenant has too much under way. */
    private static final Duration BUSY = Duration.ofSeconds(1);

    private final ProviderCalls calls;
    private final Records records;
    private final InstantSource clock;
    private final Duration timeout;
    private final MintListener listener;

    /** An order, and what came of it. */
    record Ended(Order order, Outcome outcome) {}

    /**
     * @param timeout within which all providers of a request must have answered
     */
    Mints(
            ProviderCalls calls,
            Records records,
            InstantSource clock,
            Duration timeout,
            MintListener listener) {
        this.listener = listener;
        this.calls = calls;
        this.records = records;
        this.clock = clock;
        this.timeout = timeout;
    }

    /** Asks the providers for all that is intended, and waits for each. */
    List<Ended> callProviders(Intent intent) {
        Instant deadline = clock.instant().plus(timeout);
        List<Outcome> outcomes = calls.mintAll(intent.orders(), intent.admitted(), deadline);
        List<Ended> ended = new ArrayList<>();
        for (int i = 0; i < outcomes.size(); i++) {
            ended.add(new Ended(intent.orders().get(i), outcomes.get(i)));
        }
        return ended;
    }

    /** Records what came of an intent, and then hands out all of it or nothing. */
    Verdict<Credentials> conclude(Intent intent, List<Ended> ended) {
        Optional<Ended> failure =
                ended.stream()
                        .filter(each -> !(each.outcome() instanceof Outcome.Obtained))
                        .findFirst();
        return failure.isPresent() ? refuse(intent, ended, failure.get()) : release(intent, ended);
    }

    private Verdict<Credentials> refuse(Intent intent, List<Ended> ended, Ended failure) {
        Instant now = clock.instant();
        List<Event> undone = ended.stream().map(each -> undone(each, now)).toList();
        try {
            records.commitOrRecordLater(undone);
        } finally {
            for (int i = 0; i < undone.size(); i++) {
                tell(intent, ended.get(i), undone.get(i).kind());
            }
        }
        return Verdict.refused(refusal(failure));
    }

    /**
     * @throws Unavailable where no provider refused, since none was asked
     */
    private static MintRefusal refusal(Ended failure) {
        MintRefusal.Reason reason =
                switch (failure.outcome()) {
                    case Outcome.Lost lost -> lost.reason();
                    case Outcome.Unfit unfit -> unfit.reason();
                    case Outcome.NotCalled _ ->
                            throw new Unavailable(
                                    "As many credentials of this tenant are being obtained as may be at a time; nothing was minted.",
                                    BUSY);
                    case Outcome.Obtained _ -> throw new IllegalArgumentException("not a failure");
                };
        Order order = failure.order();
        return new MintRefusal(
                order.granted().key().provider().name().value(),
                order.granted().key().name().value(),
                reason);
    }

    private static Event undone(Ended ended, Instant now) {
        var events = ended.order().events();
        return switch (ended.outcome()) {
            case Outcome.Lost(var reason, var detail) -> events.failed(now, reason.word(), detail);
            case Outcome.NotCalled(var detail) -> events.failed(now, Outcome.TENANT_BUSY, detail);
            case Outcome.Unfit(var note, var reason, var detail) ->
                    events.withheld(now, reason.word(), detail, note);
            case Outcome.Obtained(var note, _) ->
                    events.withheld(
                            now, OTHER_KEY_FAILED, "another key of the request failed", note);
        };
    }

    private void commit(
            Intent intent, List<Ended> ended, List<Event> issued, List<Event> withheld) {
        Kind outcome = Kind.WITHHELD;
        try {
            records.commitOrRecordLater(issued, withheld);
            outcome = Kind.ISSUED;
        } finally {
            for (Ended each : ended) {
                tell(intent, each, outcome);
            }
        }
    }

    private void tell(Intent intent, Ended ended, Kind outcome) {
        listener.ended(
                intent.admitted().token().provider().tenant(),
                ended.order().granted().key().provider().type(),
                outcome);
    }

    private Verdict<Credentials> release(Intent intent, List<Ended> ended) {
        Instant now = clock.instant();
        Map<KeyName, Map<String, Secret>> members = new LinkedHashMap<>();
        List<Event> issued = new ArrayList<>();
        List<Event> withheld = new ArrayList<>();
        Instant earliest = Instant.MAX;
        for (Ended each : ended) {
            if (each.outcome() instanceof Outcome.Obtained(Credential note, var own)) {
                var events = each.order().events();
                members.put(each.order().granted().key().name(), own);
                issued.add(events.issued(now, note));
                withheld.add(
                        events.withheld(now, Intents.UNSURE, "the credential was dropped", note));
                earliest = note.expiresAt().isBefore(earliest) ? note.expiresAt() : earliest;
            }
        }
        commit(intent, ended, issued, withheld);
        String subject = intent.admitted().token().subject();
        return Verdict.passed(new Credentials(subject, now, earliest, members));
    }
}
