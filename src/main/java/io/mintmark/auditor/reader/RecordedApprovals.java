package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.auditor.reader.RecordedRequests.Grounds;
import io.mintmark.auditor.verify.Findings;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Checks in the history of one tenant after the other that each row that gives access was approved
 * before it was in force: a grant with {@code request_id} by its request, and where a second admin
 * is required each key, grant, access rule and approver by a login that didn't write it.
 */
final class RecordedApprovals {
    private static final List<String> NOT_APPROVED =
            List.of(
                    "description",
                    "reason",
                    "owner",
                    "approved_by",
                    "approved_at",
                    "created_at",
                    "created_by",
                    "updated_at",
                    "updated_by");

    private final Findings findings;
    private RecordedRequests requests = new RecordedRequests();
    private TokenWriters tokens = new TokenWriters();

    /** The logins that wrote or changed what awaits approval, by table and name. */
    private final Map<String, Set<String>> writers = new HashMap<>();

    private @Nullable String tenant;
    private boolean requireSecond;
    private String turnedOnIn = "";

    /** A change, with its sides; a missing node for none. */
    record Change(
            @Nullable String tenant,
            long revision,
            String table,
            JsonNode before,
            JsonNode after,
            String changedBy,
            String transaction) {
        private String name(String column) {
            return (after.isObject() ? after : before).path(column).asText();
        }
    }

    RecordedApprovals(Findings findings) {
        this.findings = findings;
    }

    /** The next change, by tenant and revision. */
    void add(Change change) {
        if (!Objects.equals(tenant, change.tenant())) {
            tenant = change.tenant();
            requests = new RecordedRequests();
            tokens = new TokenWriters();
            writers.clear();
            requireSecond = false;
            turnedOnIn = "";
        }
        tokens.add(change).ifPresent(findings::wrong);
        switch (change.table()) {
            case "tenant" -> addTenant(change);
            case "key" -> addRow(change, "key", change.name("name"));
            case "subject_grant" -> addRow(change, "grant", change.name("id"));
            case "access_rule", "access_approver" -> {
                addRow(change, change.table(), change.name("id"));
                requests.add(change, requireSecond);
            }
            case "blocked_subject" -> addBlock(change);
            default -> requests.add(change, requireSecond);
        }
    }

    /** A block that is lifted, shortened or narrowed, which takes two. */
    private void addBlock(Change change) {
        JsonNode before = change.before();
        JsonNode after = change.after();
        String row = "blocked_subject " + change.name("id");
        Set<String> wrote = Objects.requireNonNullElseGet(writers.remove(row), HashSet::new);
        if (requireSecond
                && RecordedBlock.wasInForce(before, after)
                && !RecordedBlock.stopsAsMuch(before, after)
                && (!RecordedBlock.isAsProposed(before, after)
                        || wrote.contains(change.changedBy()))) {
            findings.wrong(
                    "unapproved_%s of tenant %s at change %d: it was lifted, shortened or narrowed without another login than the one that proposed it"
                            .formatted(row, tenant, change.revision()));
        }
        if (after.hasNonNull("proposed")) {
            wrote.add(change.changedBy());
            writers.put(row, wrote);
        }
    }

    private void addTenant(Change change) {
        boolean now = change.after().path("require_second_admin").asBoolean();
        if (now != requireSecond) {
            writers.clear();
            turnedOnIn = now ? change.transaction() : "";
            requireSecond = now;
        }
    }

    private void addRow(Change change, String kind, String name) {
        String row = kind + " " + name;
        if (!change.after().isObject()) {
            writers.remove(row);
            return;
        }
        String before =
                kind + " " + change.before().path(kind.equals("key") ? "name" : "id").asText();
        Set<String> wrote = Objects.requireNonNullElseGet(writers.remove(before), HashSet::new);
        objection(change, wrote)
                .ifPresent(why ->
                        findings.wrong(
                                "unapproved_%s of tenant %s at change %d: %s"
                                        .formatted(row, tenant, change.revision(), why)));
        if (requireSecond && change.after().path("approved_at").isNull()) {
            wrote.add(change.changedBy());
            writers.put(row, wrote);
        }
    }

    private Optional<String> objection(Change change, Set<String> wrote) {
        JsonNode after = change.after();
        boolean same = change.before().isObject() && allows(change.before()).equals(allows(after));
        boolean disabled = change.before().isObject() && isOnlyDisabled(change.before(), after);
        if (after.hasNonNull("request_id")) {
            return same || disabled
                    ? Optional.empty()
                    : requests.objection(
                            after, change.before().isObject() ? Grounds.CHANGED : Grounds.WRITTEN);
        }
        boolean isApproved = after.hasNonNull("approved_at");
        if (!isApproved || ((same || disabled) && sameApproval(change.before(), after))) {
            return Optional.empty();
        }
        if (!same) {
            return Optional.of("it was written as approved");
        }
        String approver = after.path("approved_by").asText("");
        if (!after.hasNonNull("approved_by")) {
            return turnedOnIn.equals(change.transaction())
                    ? Optional.empty()
                    : Optional.of("it was put in force without an approval");
        }
        return approver.equals(change.changedBy()) && !wrote.contains(approver)
                ? Optional.empty()
                : Optional.of("no other login than its writers approved it");
    }

    private static boolean sameApproval(JsonNode before, JsonNode after) {
        return before.path("approved_at").equals(after.path("approved_at"))
                && before.path("approved_by").equals(after.path("approved_by"));
    }

    private static boolean isOnlyDisabled(JsonNode before, JsonNode after) {
        return before.path("enabled").asBoolean()
                && !after.path("enabled").asBoolean()
                && allows(before).without("enabled").equals(allows(after).without("enabled"));
    }

    /** A column that was added later is missing in older changes: as null. */
    private static ObjectNode allows(JsonNode row) {
        ObjectNode kept = row.deepCopy();
        kept.remove(NOT_APPROVED);
        kept.properties().removeIf(column -> column.getValue().isNull());
        return kept;
    }
}
