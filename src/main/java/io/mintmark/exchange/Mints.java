package io.mintmark.exchange;

import io.mintmark.audit.CredentialNote;
import io.mintmark.audit.Event;
import io.mintmark.audit.Kind;
import io.mintmark.outbound.Secret;
import io.mintmark.tenant.KeyName;
import io.mintmark.verdict.MintRefusal;
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

    private final ProviderCalls calls;
    private final Records records;
    private final InstantSource clock;
    private final Duration timeout;
    private final MintListener listener;

    private record Settled(Order order, Outcome outcome) {}

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

    /** Carries out what was intended and records what came of it. */
    Verdict<Credentials> carryOut(Intent intent) {
        List<Settled> settled = settle(intent, clock.instant().plus(timeout));
        Optional<Settled> failure =
                settled.stream()
                        .filter(each -> !(each.outcome() instanceof Outcome.Obtained))
                        .findFirst();
        return failure.isPresent()
                ? refuse(intent, settled, failure.get())
                : release(intent, settled);
    }

    private List<Settled> settle(Intent intent, Instant deadline) {
        List<Outcome> outcomes = calls.mintAll(intent.orders(), intent.admitted(), deadline);
        List<Settled> settled = new ArrayList<>();
        for (int i = 0; i < outcomes.size(); i++) {
            settled.add(new Settled(intent.orders().get(i), outcomes.get(i)));
        }
        return settled;
    }

    private Verdict<Credentials> refuse(Intent intent, List<Settled> settled, Settled failure) {
        Instant now = clock.instant();
        List<Event> undone = settled.stream().map(each -> undone(each, now)).toList();
        try {
            records.commitOrRecordLater(undone);
        } finally {
            for (int i = 0; i < undone.size(); i++) {
                tell(intent, settled.get(i), undone.get(i).kind());
            }
        }
        Order order = failure.order();
        return Verdict.refused(
                new MintRefusal(
                        order.granted().key().provider().name().value(),
                        order.granted().key().name().value(),
                        reason(failure.outcome())));
    }

    private static MintRefusal.Reason reason(Outcome outcome) {
        return switch (outcome) {
            case Outcome.Lost lost -> lost.reason();
            case Outcome.Unfit unfit -> unfit.reason();
            case Outcome.Obtained _ -> throw new IllegalArgumentException("not a failure");
        };
    }

    private static Event undone(Settled settled, Instant now) {
        var trail = settled.order().trail();
        return switch (settled.outcome()) {
            case Outcome.Lost(var reason, var detail) -> trail.failed(now, reason.word(), detail);
            case Outcome.Unfit(var note, var reason, var detail) ->
                    trail.withheld(now, reason.word(), detail, note);
            case Outcome.Obtained(var note, _) ->
                    trail.withheld(
                            now, OTHER_KEY_FAILED, "another key of the request failed", note);
        };
    }

    private void commit(
            Intent intent, List<Settled> settled, List<Event> issued, List<Event> withheld) {
        Kind outcome = Kind.WITHHELD;
        try {
            records.commitOrRecordLater(issued, withheld);
            outcome = Kind.ISSUED;
        } finally {
            for (Settled each : settled) {
                tell(intent, each, outcome);
            }
        }
    }

    private void tell(Intent intent, Settled settled, Kind outcome) {
        listener.settled(
                intent.admitted().token().provider().tenant(),
                settled.order().granted().key().provider().type(),
                outcome);
    }

    private Verdict<Credentials> release(Intent intent, List<Settled> settled) {
        Instant now = clock.instant();
        Map<KeyName, Map<String, Secret>> members = new LinkedHashMap<>();
        List<Event> issued = new ArrayList<>();
        List<Event> withheld = new ArrayList<>();
        Instant earliest = Instant.MAX;
        for (Settled each : settled) {
            if (each.outcome() instanceof Outcome.Obtained(CredentialNote note, var own)) {
                var trail = each.order().trail();
                members.put(each.order().granted().key().name(), own);
                issued.add(trail.issued(now, note));
                withheld.add(
                        trail.withheld(now, Intents.UNSURE, "the credential was dropped", note));
                earliest = note.expiresAt().isBefore(earliest) ? note.expiresAt() : earliest;
            }
        }
        commit(intent, settled, issued, withheld);
        String subject = intent.admitted().token().subject();
        return Verdict.passed(new Credentials(subject, now, earliest, members));
    }
}
