package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The requests of one tenant that are open at a place of its history, with their decisions. */
final class RecordedRequests {
    /** The oldest token by which a subject consents, in seconds. */
    private static final int MOST_AGE = 300;

    /** The longest time between the check of a last approval and the record of its grant. */
    private static final Duration SLACK = Duration.ofSeconds(30);

    private final Map<String, JsonNode> rules = new HashMap<>();
    private final Map<String, Open> open = new HashMap<>();
    private final RecordedPeople people = new RecordedPeople();
    private final RecordedApprovers approvers = new RecordedApprovers(people);
    private final RecordedTerms terms = new RecordedTerms();

    /** The reason for which a grant with a request is checked. */
    enum Grounds {
        WRITTEN,
        CHANGED
    }

    /**
     * A request.
     *
     * @param byItsRule whether its rule allowed it
     * @param terms what its rule, key and access provider allowed
     * @param approvals those of approvers
     * @param refusals those of anybody; one ends the request
     * @param names who approved it, in words, by the numbers of the decisions
     */
    private record Open(
            JsonNode row,
            boolean byItsRule,
            List<String> terms,
            List<Approval> approvals,
            List<JsonNode> refusals,
            SortedMap<Long, String> names) {}

    /**
     * A decision that approves.
     *
     * @param program whether a program made it, as the rows of approvers said then
     */
    private record Approval(JsonNode decision, boolean program) {}

    /** Applies a change of the tenant's requirement of a second admin. */
    void requireSecond(boolean requires) {
        approvers.requireSecond(requires);
    }

    /** The people who are known at this point of the history. */
    RecordedPeople people() {
        return people;
    }

    /** Follows a change. Returns the reason why it is forged; empty if it isn't. */
    Optional<String> add(RecordedChange change) {
        JsonNode after = change.after();
        String name = (after.isObject() ? after : change.before()).path("id").asText();
        terms.add(change);
        switch (change.table()) {
            case "identity_provider" -> people.link(change.before(), after);
            case "access_rule" -> {
                put(rules, name, after);
                approvers.addRule(change);
            }
            case "access_approver" -> approvers.add(change);
            case "access_request" -> {
                return addRequest(name, change);
            }
            case "access_decision" -> {
                if (change.before().isObject()) {
                    return Optional.of(
                            "decision %s was %s, but decisions are never changed or deleted"
                                    .formatted(name, after.isObject() ? "changed" : "deleted"));
                }
                return addDecision(change);
            }
            default -> {}
        }
        return Optional.empty();
    }

    private static void put(Map<String, JsonNode> rows, String name, JsonNode after) {
        if (after.isObject()) {
            rows.put(name, after);
        } else {
            rows.remove(name);
        }
    }

    private Optional<String> addRequest(String id, RecordedChange change) {
        JsonNode before = change.before();
        JsonNode after = change.after();
        if (!before.isObject()) {
            open.put(
                    id,
                    new Open(
                            after,
                            isByItsRule(after),
                            terms.of(after),
                            new ArrayList<>(),
                            new ArrayList<>(),
                            new TreeMap<>()));
            return Optional.empty();
        }
        Open request = open.get(id);
        if (!after.path("status").asText().equals("pending")) {
            open.remove(id);
        }
        if (!after.isObject()) {
            return Optional.of(
                    "request %s was deleted, but requests are never deleted".formatted(id));
        } else if (!RequestedGrant.asksTheSame(before, after)) {
            return Optional.of("the access that request %s asked for was changed".formatted(id));
        }
        return wrongStatus(before.path("status").asText(), after.path("status").asText(), request)
                .map(why -> "request %s %s".formatted(id, why));
    }

    private static Optional<String> wrongStatus(String from, String to, @Nullable Open request) {
        if (!from.equals(to)
                && !from.equals("pending")
                && !(from.equals("granted") && to.equals("withdrawn"))) {
            return Optional.of("had already ended as %s, but became %s".formatted(from, to));
        } else if (to.equals("refused") && request != null && request.refusals().isEmpty()) {
            return Optional.of("was refused without a decision");
        }
        return Optional.empty();
    }

    private boolean isByItsRule(JsonNode request) {
        JsonNode rule = rules.get(request.path("rule").asText());
        return rule != null
                && rule.path("enabled").asBoolean()
                && approvers.isInForce(rule)
                && approvers.areInStepsOf(rule)
                && RequestedGrant.isAllowedBy(rule, request);
    }

    /** A decision counts if an approver of the rule made it. */
    private Optional<String> addDecision(RecordedChange change) {
        JsonNode decision = change.after();
        Open request = open.get(decision.path("request").asText());
        if (request == null) {
            return Optional.empty();
        }
        String verdict = decision.path("verdict").asText();
        if (verdict.equals("refuse")) {
            request.refusals().add(decision);
        } else if (verdict.equals("approve")) {
            request.names().put(decision.path("id").asLong(), RequestedGrant.named(decision));
            if (isByApprover(change, request.row())) {
                boolean program = approvers.isProgram(decision, request.row());
                request.approvals().add(new Approval(decision, program));
            }
            return terms.wrongRevisions(decision, request.row());
        }
        return Optional.empty();
    }

    /** Whether somebody who may decide a request made this decision on it. */
    boolean isByApprover(RecordedChange change, JsonNode request) {
        JsonNode decision = change.after();
        boolean byLogin = decision.hasNonNull("decided_by");
        return RequestedGrant.isTrue(request, "consent")
                ? isConsent(decision, request)
                : (!byLogin || decision.path("decided_by").asText().equals(change.changedBy()))
                        && !approvers.allowing(decision, request).isEmpty();
    }

    /** Whether the subject of a request decided it, by a token of at most five minutes. */
    private static boolean isConsent(JsonNode decision, JsonNode request) {
        return !decision.hasNonNull("decided_by")
                && RecordedPeople.subject(decision, "issuer", "subject")
                        .equals(RecordedPeople.subject(request, "issuer", "subject"))
                && decision.path("token_age").isInt()
                && decision.path("token_age").intValue() >= 0
                && decision.path("token_age").intValue() <= MOST_AGE;
    }

    /**
     * The approvals of a request by those who are its approvers now: each once, and nobody who has
     * a part in it.
     */
    private Votes votes(Open request) {
        Votes votes = new Votes(request.row());
        for (Approval approval : request.approvals()) {
            JsonNode decision = approval.decision();
            Set<String> person = people.person(decision);
            if (!RecordedPeople.isParty(person, request.row())) {
                votes.add(
                        decision,
                        person,
                        approvers.allowing(decision, request.row()),
                        approval.program() || approvers.isProgram(decision, request.row()));
            }
        }
        return votes;
    }

    /**
     * The reason why a grant's request didn't allow the grant, as the end of a sentence; empty if
     * it did.
     */
    Optional<String> objection(JsonNode grant, Instant writtenAt, Grounds grounds) {
        String id = grant.path("request_id").asText();
        Open request = open.get(id);
        if (grounds == Grounds.CHANGED) {
            return Optional.of("it was changed after request %s was approved".formatted(id));
        } else if (request == null) {
            return Optional.of("request %s was not pending before this change".formatted(id));
        } else if (!request.byItsRule()) {
            return Optional.of(
                    "request %s was not allowed by access rule %s"
                            .formatted(id, request.row().path("rule").asText()));
        } else if (!request.refusals().isEmpty()) {
            return Optional.of("request %s was refused before this change".formatted(id));
        }
        Optional<String> end = ended(request, writtenAt);
        if (end.isPresent()) {
            return end.map(why -> "request %s was void: %s".formatted(id, why));
        } else if (!RequestedGrant.isWhatWasAsked(grant, request.row(), writtenAt)) {
            return Optional.of(
                    "it doesn't match the access that request %s asked for".formatted(id));
        }
        Optional<String> why =
                missing(id, request)
                        .or(() -> RequestedGrant.wronglyNamed(grant, request.names().values()));
        if (why.isEmpty()) {
            open.remove(id);
        }
        return why;
    }

    /** Why a request could not be granted any more, as the end of a sentence. */
    private Optional<String> ended(Open request, Instant at) {
        JsonNode row = request.row();
        JsonNode rule = rules.get(row.path("rule").asText());
        if (RequestedGrant.time(row, "expires_at")
                .filter(end -> at.isAfter(end.plus(SLACK)))
                .isPresent()) {
            return Optional.of("it had lapsed");
        } else if (rule != null && !approvers.isInForce(rule)) {
            return Optional.of("its access rule was not approved yet");
        }
        return terms.changedSince(request.terms(), row)
                .map("these rows had changed since the request was made: %s"::formatted)
                .or(() -> people.wrongIssuer(row, "idp", "issuer"))
                .or(() -> people.wrongIssuer(row, "actor_idp", "actor_issuer"));
    }

    private Optional<String> missing(String id, Open request) {
        JsonNode row = request.row();
        if (RequestedGrant.isTrue(row, "consent")) {
            return request.approvals().isEmpty()
                    ? Optional.of("the subject of request %s did not consent".formatted(id))
                    : Optional.empty();
        }
        Votes votes = votes(request);
        int needed = Votes.needed(row);
        if (votes.given() < needed) {
            return Optional.of(
                    "request %s had %d of %d approvals before this change"
                            .formatted(id, votes.given(), needed));
        }
        int people = needed == 0 ? 0 : Votes.people(row);
        return votes.ofPeople() < people
                ? Optional.of(
                        "request %s had %d of %d approvals of people before this change"
                                .formatted(id, votes.ofPeople(), people))
                : Optional.empty();
    }
}
