package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.auditor.reader.RecordedApprovals.Change;
import io.mintmark.base.tenant.Glob;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The approvers of the access rules of one tenant at a place of its history, and who of them is a
 * program.
 */
final class RecordedApprovers {
    private final RecordedPeople people;

    /** The rows of approvers by their ids, by the ids of their rules. */
    private final Map<String, Map<String, JsonNode>> ofRules = new HashMap<>();

    private boolean requireSecond;

    RecordedApprovers(RecordedPeople people) {
        this.people = people;
    }

    /**
     * Applies a change of the tenant's requirement of a second admin, and puts the rows in force
     * that waited for it.
     */
    void requireSecond(boolean requires) {
        requireSecond = requires;
        ofRules.values().forEach(rows -> rows.values().forEach(this::join));
    }

    /** Follows a change of an approver. */
    void add(Change change) {
        JsonNode before = change.before();
        JsonNode after = change.after();
        if (before.isObject()) {
            ofRule(before.path("rule")).remove(before.path("id").asText());
        }
        if (after.isObject()) {
            ofRules.computeIfAbsent(after.path("rule").asText(), rule -> new HashMap<>())
                    .put(after.path("id").asText(), after);
        }
        join(before);
        join(after);
    }

    private void join(JsonNode approver) {
        if (isInForce(approver)) {
            people.join(approver);
        }
    }

    /** Whether a row needs no approval of a second admin, or has one. */
    boolean isInForce(JsonNode row) {
        return !requireSecond || row.hasNonNull("approved_at");
    }

    /** The rows of approvers in force that let somebody decide a request. */
    List<JsonNode> allowing(JsonNode decision, JsonNode request) {
        return naming(decision, request)
                .filter(this::isInForce)
                .filter(approver ->
                        decision.hasNonNull("decided_by")
                                || approver.path("idp").equals(decision.path("idp")))
                .filter(approver ->
                        !approver.hasNonNull("max_access")
                                || request.path("access").asLong()
                                        <= approver.path("max_access").asLong())
                .toList();
    }

    /**
     * Whether a row says of any name of a person that it is a program, through whichever identity
     * provider of the issuer, and also while the row awaits approval. The claims of a token aren't
     * recorded, so globs that ask for some don't count.
     */
    boolean isProgram(JsonNode decision, JsonNode request) {
        Set<String> person = people.person(decision);
        return isTrue(decision, "program")
                || Stream.concat(
                                naming(decision, request),
                                ofRule(request.path("rule")).values().stream()
                                        .filter(approver -> namesOne(approver, person)))
                        .anyMatch(RecordedApprovers::saysProgram);
    }

    private static boolean saysProgram(JsonNode approver) {
        return isTrue(approver, "program")
                && (approver.path("claims").isEmpty()
                        || approver.path("match").asText().equals("exact"));
    }

    private static boolean isTrue(JsonNode row, String column) {
        return row.path(column).asBoolean();
    }

    private static boolean namesOne(JsonNode approver, Set<String> person) {
        return RecordedPeople.hasLogin(person, approver.path("role_name").asText())
                || (approver.hasNonNull("subject")
                        && RecordedPeople.subjects(person, approver.path("issuer").asText())
                                .anyMatch(subject -> isMeant(approver, subject)));
    }

    private Map<String, JsonNode> ofRule(JsonNode rule) {
        return ofRules.getOrDefault(rule.asText(), new HashMap<>());
    }

    private Stream<JsonNode> naming(JsonNode decision, JsonNode request) {
        return ofRule(request.path("rule")).values().stream()
                .filter(approver ->
                        decision.hasNonNull("decided_by")
                                ? approver.path("role_name").equals(decision.path("decided_by"))
                                : (approver.path("idp").equals(decision.path("idp"))
                                                || people.areLinked(approver, decision))
                                        && isMeant(approver, decision.path("subject").asText()));
    }

    /** Whether the subject or glob of a rule or approver is about a subject. */
    static boolean isMeant(JsonNode row, String subject) {
        String pattern = row.path("subject").asText();
        return row.path("match").asText().equals("glob")
                ? new Glob(pattern).matches(subject)
                : pattern.equals(subject);
    }
}
