package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.auditor.reader.RecordedApprovals.Change;
import io.mintmark.base.tenant.Glob;
import io.mintmark.broker.catalogue.DocumentFields;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The requests of one tenant that are open at a place of its history, with their decisions. */
final class RecordedRequests {
    /** The oldest token by which a subject consents, in seconds. */
    private static final int MOST_AGE = 300;

    private final Map<String, String> issuers = new HashMap<>();
    private final Map<String, JsonNode> rules = new HashMap<>();
    private final Map<String, JsonNode> approvers = new HashMap<>();
    private final Map<String, Open> open = new HashMap<>();

    /** Pairs of a login and a subject that a row said or says are one person. */
    private final Set<List<String>> joined = new HashSet<>();

    private boolean requireSecond;

    /** Why a grant with a request is looked at. */
    enum Grounds {
        WRITTEN,
        CHANGED
    }

    /** A request, whether its rule allowed it, and the approvals of approvers. */
    private record Open(JsonNode row, boolean byItsRule, List<JsonNode> approvals) {}

    /**
     * Follows a change.
     *
     * @param requireSecond whether the tenant requires a second admin then
     */
    void add(Change change, boolean requireSecond) {
        this.requireSecond = requireSecond;
        JsonNode after = change.after();
        String name = (after.isObject() ? after : change.before()).path("id").asText();
        switch (change.table()) {
            case "identity_provider" -> {
                issuers.remove(change.before().path("name").asText());
                issuers.put(after.path("name").asText(), after.path("issuer").asText());
            }
            case "access_rule" -> put(rules, name, after);
            case "access_approver" -> {
                put(approvers, name, after);
                join(after);
            }
            case "access_request" -> addRequest(name, change);
            case "access_decision" -> addDecision(change);
            default -> {}
        }
    }

    private static void put(Map<String, JsonNode> rows, String name, JsonNode after) {
        if (after.isObject()) {
            rows.put(name, after);
        } else {
            rows.remove(name);
        }
    }

    private void join(JsonNode approver) {
        if (approver.hasNonNull("role_name") && approver.hasNonNull("subject")) {
            String issuer = issuers.getOrDefault(approver.path("idp").asText(), "");
            joined.add(
                    List.of(
                            "login " + approver.path("role_name").asText(),
                            "subject " + issuer + " " + approver.path("subject").asText()));
        }
    }

    private boolean isInForce(JsonNode row) {
        return !requireSecond || row.hasNonNull("approved_at");
    }

    private void addRequest(String id, Change change) {
        JsonNode after = change.after();
        if (!change.before().isObject()) {
            open.put(id, new Open(after, isByItsRule(after), new ArrayList<>()));
        } else if (!after.path("status").asText().equals("pending")) {
            open.remove(id);
        }
    }

    private boolean isByItsRule(JsonNode request) {
        JsonNode rule = rules.get(request.path("rule").asText());
        return rule != null
                && rule.path("enabled").asBoolean()
                && isInForce(rule)
                && isMeant(rule, request.path("subject").asText())
                && rule.path("key").equals(request.path("key"))
                && rule.path("approvals").equals(request.path("approvals"))
                && rule.path("break_glass").equals(request.path("break_glass"))
                && isTrue(rule, "end_credentials") == isTrue(request, "end_credentials")
                && isTrue(rule, "consent") == isTrue(request, "consent")
                && (!isTrue(request, "consent") || request.hasNonNull("actor"))
                && Votes.people(rule) == Votes.people(request)
                && steps(rule).equals(Votes.steps(request))
                && fitsPattern(rule, request.path("reason").asText())
                && rule.path("idp").equals(request.path("idp"))
                && request.path("access").asLong() <= rule.path("max_access").asLong();
    }

    /** The steps of a rule: those of its approvers, also of those that await a second admin. */
    private List<Integer> steps(JsonNode rule) {
        List<Integer> steps =
                approvers.values().stream()
                        .filter(approver -> approver.path("rule").equals(rule.path("id")))
                        .flatMap(approver -> Votes.steps(approver).stream())
                        .distinct()
                        .sorted()
                        .toList();
        return steps.isEmpty() ? List.of(1) : steps;
    }

    private static boolean fitsPattern(JsonNode rule, String reason) {
        return !rule.hasNonNull("reason_pattern")
                || new Glob(rule.path("reason_pattern").asText()).matches(reason);
    }

    /** A column that was added later is missing in older rows: as false. */
    private static boolean isTrue(JsonNode row, String column) {
        return row.path(column).asBoolean();
    }

    /** A decision counts if an approver of the rule made it. */
    private void addDecision(Change change) {
        JsonNode decision = change.after();
        Open request = open.get(decision.path("request").asText());
        if (request == null || !decision.path("verdict").asText().equals("approve")) {
            return;
        }
        boolean byLogin = decision.hasNonNull("decided_by");
        if (isTrue(request.row(), "consent")
                ? isConsent(decision, request.row())
                : (!byLogin || decision.path("decided_by").asText().equals(change.changedBy()))
                        && !allowing(decision, request.row()).isEmpty()) {
            request.approvals().add(decision);
        }
    }

    /** Whether the subject of a request decided it, by a token of at most five minutes. */
    private static boolean isConsent(JsonNode decision, JsonNode request) {
        return !decision.hasNonNull("decided_by")
                && subject(decision, "issuer", "subject")
                        .equals(subject(request, "issuer", "subject"))
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
            Set<String> person =
                    names(
                            decision.hasNonNull("decided_by")
                                    ? "login " + decision.path("decided_by").asText()
                                    : subject(decision, "issuer", "subject"));
            if (!person.contains(subject(request.row(), "issuer", "subject"))
                    && !person.contains(subject(request.row(), "actor_issuer", "actor"))) {
                votes.add(decision, person, allowing(decision, request.row()));
            }
        }
        return votes;
    }

    private static String subject(JsonNode row, String issuer, String subject) {
        return "subject " + row.path(issuer).asText() + " " + row.path(subject).asText();
    }

    /** The rows of approvers in force that let somebody decide a request. */
    private List<JsonNode> allowing(JsonNode decision, JsonNode request) {
        return approvers.values().stream()
                .filter(approver -> approver.path("rule").equals(request.path("rule")))
                .filter(this::isInForce)
                .filter(approver ->
                        decision.hasNonNull("decided_by")
                                ? approver.path("role_name").equals(decision.path("decided_by"))
                                : approver.path("idp").equals(decision.path("idp"))
                                        && isMeant(approver, decision.path("subject").asText()))
                .toList();
    }

    private static boolean isMeant(JsonNode approver, String subject) {
        String pattern = approver.path("subject").asText();
        return approver.path("match").asText().equals("glob")
                ? new Glob(pattern).matches(subject)
                : pattern.equals(subject);
    }

    /** All names of a person, by the rows that join or ever joined a login with a subject. */
    private Set<String> names(String first) {
        Set<String> names = new HashSet<>(Set.of(first));
        boolean grew = true;
        while (grew) {
            grew = false;
            for (List<String> both : joined) {
                if (!Collections.disjoint(both, names)) {
                    grew = names.addAll(both) || grew;
                }
            }
        }
        return names;
    }

    /** Why the request of a grant didn't allow it, as the end of a sentence; none if it did. */
    Optional<String> objection(JsonNode grant, Grounds grounds) {
        String id = grant.path("request_id").asText();
        Open request = open.get(id);
        if (grounds == Grounds.CHANGED) {
            return Optional.of("it was changed after request %s was approved".formatted(id));
        } else if (request == null) {
            return Optional.of("request %s was not pending before it".formatted(id));
        } else if (!request.byItsRule()) {
            return Optional.of(
                    "request %s is not one that access rule %s allowed"
                            .formatted(id, request.row().path("rule").asText()));
        } else if (!isWhatWasAsked(grant, request.row())) {
            return Optional.of("it is not what request %s asked for".formatted(id));
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
                    "request %s had %d of %d approvals before it"
                            .formatted(id, votes.given(), needed));
        }
        int people = needed == 0 ? 0 : Votes.people(row);
        return votes.ofPeople() < people
                ? Optional.of(
                        "request %s had %d of %d approvals of people before it"
                                .formatted(id, votes.ofPeople(), people))
                : Optional.empty();
    }

    private static boolean isWhatWasAsked(JsonNode grant, JsonNode request) {
        return List.of("key", "idp", "subject", "claims", "actor_idp", "actor").stream()
                        .allMatch(column -> grant.path(column).equals(request.path(column)))
                && grant.path("match").asText().equals("exact")
                && grant.path("actor_claims").isEmpty()
                && grant.path("networks").isEmpty()
                && lasts(grant)
                        .equals(Optional.of(Duration.ofSeconds(request.path("access").asLong())));
    }

    private static Optional<Duration> lasts(JsonNode grant) {
        try {
            Optional<Instant> from = DocumentFields.time(grant, "valid_from");
            return from.flatMap(begin ->
                    DocumentFields.time(grant, "valid_until")
                            .map(end -> Duration.between(begin, end)));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
