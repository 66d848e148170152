package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.auditor.reader.RecordedApprovals.Change;
import io.mintmark.base.tenant.Glob;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The requests of one tenant that are open at a place of its history, with their decisions. */
final class RecordedRequests {
    /** The oldest token by which a subject consents, in seconds. */
    private static final int MOST_AGE = 300;

    private final Map<String, JsonNode> rules = new HashMap<>();
    private final Map<String, Open> open = new HashMap<>();
    private final RecordedPeople people = new RecordedPeople();
    private final RecordedApprovers approvers = new RecordedApprovers(people);

    /** The reason for which a grant with a request is checked. */
    enum Grounds {
        WRITTEN,
        CHANGED
    }

    /**
     * A request.
     *
     * @param byItsRule whether its rule allowed it
     * @param approvals those of approvers
     * @param refusals those of anybody; one ends the request
     */
    private record Open(
            JsonNode row, boolean byItsRule, List<JsonNode> approvals, List<JsonNode> refusals) {}

    /** Applies a change of the tenant's requirement of a second admin. */
    void requireSecond(boolean requires) {
        approvers.requireSecond(requires);
    }

    /** The people who are known at this point of the history. */
    RecordedPeople people() {
        return people;
    }

    /** Follows a change. Returns the reason why it is forged; empty if it isn't. */
    Optional<String> add(Change change) {
        JsonNode after = change.after();
        String name = (after.isObject() ? after : change.before()).path("id").asText();
        switch (change.table()) {
            case "identity_provider" -> people.link(change.before(), after);
            case "access_rule" -> put(rules, name, after);
            case "access_approver" -> approvers.add(change);
            case "access_request" -> addRequest(name, change);
            case "access_decision" -> {
                if (change.before().isObject()) {
                    return Optional.of(
                            "decision %s was %s, and a decision never is"
                                    .formatted(name, after.isObject() ? "changed" : "deleted"));
                }
                addDecision(change);
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

    private void addRequest(String id, Change change) {
        JsonNode after = change.after();
        if (!change.before().isObject()) {
            open.put(id, new Open(after, isByItsRule(after), new ArrayList<>(), new ArrayList<>()));
        } else if (!after.path("status").asText().equals("pending")) {
            open.remove(id);
        }
    }

    private boolean isByItsRule(JsonNode request) {
        JsonNode rule = rules.get(request.path("rule").asText());
        return rule != null
                && rule.path("enabled").asBoolean()
                && approvers.isInForce(rule)
                && RecordedApprovers.isMeant(rule, request.path("subject").asText())
                && rule.path("key").equals(request.path("key"))
                && rule.path("approvals").equals(request.path("approvals"))
                && rule.path("break_glass").equals(request.path("break_glass"))
                && isTrue(rule, "end_credentials") == isTrue(request, "end_credentials")
                && isTrue(rule, "consent") == isTrue(request, "consent")
                && (!isTrue(request, "consent") || request.hasNonNull("actor"))
                && Votes.people(rule) == Votes.people(request)
                && Votes.steps(rule).equals(Votes.steps(request))
                && fitsPattern(rule, request.path("reason").asText())
                && rule.path("idp").equals(request.path("idp"))
                && request.path("access").asLong() <= rule.path("max_access").asLong();
    }

    private static boolean fitsPattern(JsonNode rule, String reason) {
        return !rule.hasNonNull("reason_pattern")
                || new Glob(rule.path("reason_pattern").asText()).matches(reason);
    }

    /** The column's value. Older rows lack columns that were added later, which count as false. */
    private static boolean isTrue(JsonNode row, String column) {
        return row.path(column).asBoolean();
    }

    /** A decision counts if an approver of the rule made it. */
    private void addDecision(Change change) {
        JsonNode decision = change.after();
        Open request = open.get(decision.path("request").asText());
        if (request == null) {
            return;
        }
        String verdict = decision.path("verdict").asText();
        if (verdict.equals("refuse")) {
            request.refusals().add(decision);
        } else if (verdict.equals("approve") && isByApprover(change, request.row())) {
            request.approvals().add(decision);
        }
    }

    /** Whether somebody who may decide a request made this decision on it. */
    boolean isByApprover(Change change, JsonNode request) {
        JsonNode decision = change.after();
        boolean byLogin = decision.hasNonNull("decided_by");
        return isTrue(request, "consent")
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
                && decision.path("token_age").intValue() <= MOST_AGE;
    }

    /**
     * The approvals of a request by those who are its approvers now: each once, and nobody who has
     * a part in it.
     */
    private Votes votes(Open request) {
        Votes votes = new Votes(request.row());
        for (JsonNode decision : request.approvals()) {
            Set<String> person = people.person(decision);
            if (!RecordedPeople.isParty(person, request.row())) {
                votes.add(
                        decision,
                        person,
                        approvers.allowing(decision, request.row()),
                        approvers.isProgram(decision, request.row()));
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
                    "request %s is not one that access rule %s allowed"
                            .formatted(id, request.row().path("rule").asText()));
        } else if (!request.refusals().isEmpty()) {
            return Optional.of("request %s was refused before this change".formatted(id));
        } else if (!RequestedGrant.isWhatWasAsked(grant, request.row(), writtenAt)) {
            return Optional.of("it allows other access than request %s asked for".formatted(id));
        }
        return missing(id, request);
    }

    private Optional<String> missing(String id, Open request) {
        JsonNode row = request.row();
        if (isTrue(row, "consent")) {
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
