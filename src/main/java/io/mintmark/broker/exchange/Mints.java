package io.mintmark.broker.exchange;

import io.mintmark.audit.Event;
import io.mintmark.audit.Kind;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.trace.Trace;
import io.mintmark.base.verdict.MintRefusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.exchange.Intent.Order;
import io.mintmark.broker.grant.Key;
import io.mintmark.provider.FreshDecision;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.NotCalled.Why;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Mints all keys of a recorded intent, or returns none of them: if one key fails, the broker drops
 * the credentials of the others and records them as withheld. It commits the row of each credential
 * before it returns the credential.
 */
final class Mints {
    /** The time after which a client should retry, because the cause may have passed by then. */
    private static final Duration SOON = Duration.ofSeconds(1);

    /**
     * The time that a mint may take in addition to its calls, for example because the process was
     * stopped. Another replica ends an open mint 90 seconds after the calls' time limit. The
     * difference of 30 seconds allows for clocks that differ.
     */
    private static final Duration SLACK = Duration.ofSeconds(60);

    /** The {@code reason} of a credential that another replica may already have ended. */
    private static final String TOO_LATE = "too_late";

    private final ProviderCalls calls;
    private final Records records;
    private final InstantSource clock;
    private final Duration timeout;
    private final MintListener listener;
    private final Undoing undoing;

    /**
     * @param timeout within which all providers of a request must have answered
     */
    Mints(
            ProviderCalls calls,
            Undoing undoing,
            Records records,
            InstantSource clock,
            Duration timeout,
            MintListener listener) {
        this.listener = listener;
        this.undoing = undoing;
        this.calls = calls;
        this.records = records;
        this.clock = clock;
        this.timeout = timeout;
    }

    /** The intent, unless the client wants a key certified that its provider can't certify. */
    Verdict<Intent> feasible(Intent intent, CredentialFormat format) {
        return calls.certifiable(intent).then(one -> calls.accepted(one, format));
    }

    /**
     * Calls the providers for all keys, records the outcomes, and then returns all credentials or
     * none.
     *
     * @param begun a time before the commit of the intent
     * @return empty if the decision was overtaken before every provider was called; the caller
     *     decides again
     */
    Optional<Verdict<Credentials>> mint(Intent intent, Instant begun, FreshDecision decision) {
        List<Outcome> outcomes = calls.mintAll(intent, clock.instant().plus(timeout), decision);
        Optional<Outcome> failure =
                outcomes.stream().filter(outcome -> !outcome.isCredential()).findFirst();
        if (failure.isEmpty()) {
            requireInTime(intent, begun, outcomes);
            return Optional.of(release(intent, outcomes));
        }
        recordUndone(intent, outcomes);
        return outcomes.stream().anyMatch(Outcome::isOvertaken)
                ? Optional.empty()
                : Optional.of(Verdict.refused(refusal(failure.get())));
    }

    private void requireInTime(Intent intent, Instant begun, List<Outcome> outcomes) {
        Instant now = clock.instant();
        if (now.isAfter(begun.plus(timeout).plus(SLACK))) {
            record(
                    intent,
                    outcomes,
                    outcomes.stream().map(outcome -> outcome.dropped(now, TOO_LATE)).toList());
            throw new Unavailable(
                    Unavailable.Part.REPLICA,
                    "This replica was paused for too long, so no credential was returned; try"
                            + " again.",
                    SOON);
        }
    }

    private void recordUndone(Intent intent, List<Outcome> outcomes) {
        Instant now = clock.instant();
        record(intent, outcomes, outcomes.stream().map(outcome -> outcome.undone(now)).toList());
    }

    private void record(Intent intent, List<Outcome> outcomes, List<Event> undone) {
        try {
            Trace.step("commit_outcome", () -> records.commitOrRecordLater(undone));
        } finally {
            for (int i = 0; i < undone.size(); i++) {
                end(intent, outcomes.get(i), undone.get(i).kind());
            }
        }
    }

    /**
     * @throws Unavailable if the failed key's provider was not called
     */
    private static MintRefusal refusal(Outcome failure) {
        MintRefusal.Reason reason =
                switch (failure.result()) {
                    case MintResult.NotMinted why -> why.reason();
                    case MintResult.NotCalled(var why, _) -> throw unavailable(why);
                    case Minted _ -> throw new IllegalArgumentException("not a failure");
                };
        Key key = failure.order().granted().key();
        return new MintRefusal(key.provider().name().value(), key.name().value(), reason);
    }

    private static Unavailable unavailable(Why why) {
        return switch (why) {
            case TENANT_BUSY ->
                    new Unavailable(
                            "The tenant has reached its limit of concurrent provider calls, so no credential was returned; try again.",
                            SOON);
            case DECISION_CHANGED, STATE_UNKNOWN ->
                    new Unavailable(
                            Unavailable.Part.DATABASE,
                            "The broker could not confirm that the keys are still granted, so no credential was returned; try again.",
                            SOON);
            case REPLICA_BUSY ->
                    new Unavailable(
                            Unavailable.Part.REPLICA,
                            "The broker could not confirm within a second that the keys are still granted, because this replica is short of CPU. No credential was returned; try again.",
                            SOON);
            case REPLICA_LATE ->
                    new Unavailable(
                            Unavailable.Part.REPLICA,
                            "This replica did not make the credential in time, because it is short of CPU or is stopping. No credential was returned; try again.",
                            SOON);
        };
    }

    private Verdict<Credentials> release(Intent intent, List<Outcome> outcomes) {
        Instant now = clock.instant();
        Map<KeyName, Map<String, Secret>> members = new LinkedHashMap<>();
        List<Event> issued = new ArrayList<>();
        List<Event> withheld = new ArrayList<>();
        Instant earliest = Instant.MAX;
        for (Outcome outcome : outcomes) {
            if (outcome.result() instanceof Minted credential) {
                members.put(outcome.order().granted().key().name(), credential.fields());
                issued.add(outcome.issued(credential, now));
                withheld.add(outcome.dropped(now, Intents.UNSURE));
                Instant end = credential.expiresAt();
                earliest = end.isBefore(earliest) ? end : earliest;
            }
        }
        commit(intent, outcomes, issued, withheld);
        String subject = intent.admitted().token().subject();
        return Verdict.passed(new Credentials(subject, now, earliest, members));
    }

    private void commit(
            Intent intent, List<Outcome> outcomes, List<Event> issued, List<Event> withheld) {
        Kind kind = Kind.WITHHELD;
        try {
            Trace.step("commit_outcome", () -> records.commitOrRecordLater(issued, withheld));
            kind = Kind.ISSUED;
        } finally {
            for (Outcome outcome : outcomes) {
                end(intent, outcome, kind);
            }
        }
    }

    /** Starts to revoke the credential after its row was written, unless the client gets it. */
    private void end(Intent intent, Outcome outcome, Kind kind) {
        Order order = outcome.order();
        listener.ended(intent.tenant(), order.granted().key().provider().type(), kind);
        if (kind != Kind.ISSUED) {
            undoing.start(intent.tenant(), outcome);
        }
    }
}
