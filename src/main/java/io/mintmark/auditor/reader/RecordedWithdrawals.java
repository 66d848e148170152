package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.broker.catalogue.DocumentFields;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Checks in the history of one tenant that an approver of the request made each withdrawal of
 * access, and that access had ended before a withdrawal, or a change of a rule that ends its
 * access, was recorded.
 */
final class RecordedWithdrawals {
    /** Requests that were granted, by their ids. */
    private final Map<String, JsonNode> granted = new HashMap<>();

    /** The enabled grants of requests, by the ids of the requests. */
    private final Map<String, JsonNode> inForce = new HashMap<>();

    /** Follows a change. Returns the finding about a withdrawal, or about a rule. */
    Optional<String> add(RecordedChange change, RecordedRequests requests) {
        JsonNode after = change.after();
        switch (change.table()) {
            case "subject_grant" -> addGrant(change);
            case "access_rule" -> {
                return stillEnabled(change)
                        .map(grant ->
                                "unended_access of access_rule %s of tenant %s at change %d: grant %d was not disabled before this change"
                                        .formatted(
                                                change.before().path("id").asText(),
                                                change.tenant(),
                                                change.revision(),
                                                grant));
            }
            case "access_request" -> {
                if (after.hasNonNull("grant_id")) {
                    granted.put(after.path("id").asText(), after);
                }
            }
            case "access_decision" -> {
                if (after.path("verdict").asText().equals("withdraw")) {
                    return objection(change, requests)
                            .map(why ->
                                    "wrong_withdrawal of request %s of tenant %s at change %d: %s"
                                            .formatted(
                                                    after.path("request").asText(),
                                                    change.tenant(),
                                                    change.revision(),
                                                    why));
                }
            }
            default -> {}
        }
        return Optional.empty();
    }

    private void addGrant(RecordedChange change) {
        boolean exists = change.after().isObject();
        String request = (exists ? change.after() : change.before()).path("request_id").asText("");
        if (exists && change.after().path("enabled").asBoolean() && !request.isEmpty()) {
            inForce.put(request, change.after());
        } else {
            inForce.remove(request);
        }
    }

    /** A grant that is still enabled although a change of its rule must end the rule's access. */
    private Optional<Long> stillEnabled(RecordedChange change) {
        JsonNode rule = change.before();
        if (!endsAccess(rule, change.after())) {
            return Optional.empty();
        }
        return granted.entrySet().stream()
                .filter(request -> request.getValue().path("rule").equals(rule.path("id")))
                .flatMap(request -> Stream.ofNullable(inForce.get(request.getKey())))
                .filter(grant -> change.changedAt().isBefore(end(grant)))
                .map(grant -> grant.path("id").asLong())
                .min(Comparator.naturalOrder());
    }

    private static boolean endsAccess(JsonNode before, JsonNode after) {
        if (!before.isObject() || !after.isObject()) {
            return before.path("end_access").asBoolean();
        }
        return after.path("end_access").asBoolean()
                && (!after.path("enabled").asBoolean()
                        || !RecordedApprovals.allows(before)
                                .equals(RecordedApprovals.allows(after)));
    }

    /** An end that can't be read is none. */
    private static Instant end(JsonNode grant) {
        try {
            return DocumentFields.time(grant, "valid_until").orElse(Instant.MAX);
        } catch (DateTimeException e) {
            return Instant.MAX;
        }
    }

    private Optional<String> objection(RecordedChange change, RecordedRequests requests) {
        JsonNode decision = change.after();
        String id = decision.path("request").asText();
        JsonNode request = granted.get(id);
        if (request == null) {
            return Optional.of("the request was not granted before this change");
        }
        boolean isParty =
                !request.path("consent").asBoolean()
                        && RecordedPeople.isParty(requests.people().person(decision), request);
        boolean isUnexplained =
                decision.path("program").asBoolean() && decision.path("note").asText("").isEmpty();
        if (isParty || !requests.isByApprover(change, request)) {
            return Optional.of("no approver of the request made the withdrawal");
        } else if (isUnexplained) {
            return Optional.of("a program made the withdrawal without a note");
        } else if (inForce.containsKey(id)) {
            return Optional.of(
                    "grant %s was not disabled before this change"
                            .formatted(request.path("grant_id").asText()));
        }
        return Optional.empty();
    }
}
