package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.tenant.Glob;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The approvers of the access rules of one tenant at a place of its history, and who of them is a
 * program.
 */
final class RecordedApprovers {
    /** The columns that say whom a row names, and as what. */
    private static final List<String> NAMES =
            List.of("role_name", "issuer", "subject", "match", "claims", "program");

    private final RecordedPeople people;

    /** The rows of approvers by their ids, by the ids of their rules. */
    private final Map<String, Map<String, JsonNode>> ofRules = new HashMap<>();

    /**
     * Rows by which somebody was a program, since the rule was last approved, and the rows that
     * then would have let the same subjects decide as people: what they allow, by the ids of the
     * rules. Without its rule's next approval, nobody becomes a person by that.
     */
    private final Map<String, Map<ObjectNode, Set<ObjectNode>>> formerPrograms = new HashMap<>();

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
        formerPrograms.clear();
        ofRules.values().forEach(rows -> rows.values().forEach(this::join));
    }

    /** Follows a change of an approver. */
    void add(RecordedChange change) {
        JsonNode before = change.before();
        JsonNode after = change.after();
        if (before.isObject()) {
            ofRule(before.path("rule")).remove(before.path("id").asText());
            noteFormerProgram(before, after);
        }
        if (after.isObject()) {
            ofRules.computeIfAbsent(after.path("rule").asText(), rule -> new HashMap<>())
                    .put(after.path("id").asText(), after);
        }
        join(before);
        join(after);
    }

    /** Follows a change of a rule. An approval of it is one of the approvers that are left too. */
    void addRule(RecordedChange change) {
        JsonNode before = change.before();
        JsonNode after = change.after();
        if (!after.isObject() || !before.path("approved_at").equals(after.path("approved_at"))) {
            formerPrograms.remove(before.path("id").asText());
        }
    }

    private void noteFormerProgram(JsonNode before, JsonNode after) {
        boolean stays =
                after.isObject()
                        && NAMES.stream()
                                .allMatch(column -> before.path(column).equals(after.path(column)));
        if (!requireSecond || stays || !saysProgram(before)) {
            return;
        }
        Set<ObjectNode> people = new HashSet<>();
        for (JsonNode row : ofRule(before.path("rule")).values()) {
            if (!isTrue(row, "program") && mayNameTheSame(row, before)) {
                people.add(RecordedApprovals.allows(row));
            }
        }
        if (!people.isEmpty()) {
            formerPrograms
                    .computeIfAbsent(before.path("rule").asText(), rule -> new HashMap<>())
                    .computeIfAbsent(RecordedApprovals.allows(before), row -> new HashSet<>())
                    .addAll(people);
        }
    }

    /** Whether two rows could name the same person. */
    private boolean mayNameTheSame(JsonNode one, JsonNode other) {
        if (one.hasNonNull("role_name") && one.path("role_name").equals(other.path("role_name"))) {
            return true;
        }
        if (people.joined().anyMatch(person -> namesOne(one, person) && namesOne(other, person))) {
            return true;
        }
        return one.hasNonNull("subject")
                && other.hasNonNull("subject")
                && people.areLinked(one, other)
                && (isMeant(one, other.path("subject").asText())
                        || isMeant(other, one.path("subject").asText())
                        || (isGlob(one)
                                && isGlob(other)
                                && GlobOverlap.exists(glob(one), glob(other))));
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

    /** Whether the rows of approvers in force are in steps of their rule. */
    boolean areInStepsOf(JsonNode rule) {
        return Votes.steps(rule)
                .containsAll(
                        ofRule(rule.path("id")).values().stream()
                                .filter(this::isInForce)
                                .flatMap(approver -> Votes.steps(approver).stream())
                                .toList());
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
                        .anyMatch(RecordedApprovers::saysProgram)
                || wasProgram(decision, person, request);
    }

    /** Whether a person would be no program only by a change that one admin made of its row. */
    private boolean wasProgram(JsonNode decision, Set<String> person, JsonNode request) {
        Map<ObjectNode, Set<ObjectNode>> former =
                formerPrograms.getOrDefault(request.path("rule").asText(), Map.of());
        if (former.isEmpty()) {
            return false;
        }
        List<ObjectNode> rows =
                allowing(decision, request).stream().map(RecordedApprovals::allows).toList();
        return former.entrySet().stream()
                .filter(program -> namesOne(program.getKey(), person))
                .anyMatch(program -> rows.stream().anyMatch(program.getValue()::contains));
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
        return isGlob(row)
                ? glob(row).matches(subject)
                : row.path("subject").asText().equals(subject);
    }

    private static boolean isGlob(JsonNode row) {
        return row.path("match").asText().equals("glob");
    }

    private static Glob glob(JsonNode row) {
        return new Glob(row.path("subject").asText());
    }
}
