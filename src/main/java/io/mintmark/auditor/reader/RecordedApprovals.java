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
                    "end_access",
                    "approved_by",
                    "approved_at",
                    "created_at",
                    "created_by",
                    "updated_at",
                    "updated_by",
                    "steps");

    private final Findings findings;
    private RecordedRequests requests = new RecordedRequests();
    private TokenWriters tokens = new TokenWriters();
    private RecordedWithdrawals withdrawals = new RecordedWithdrawals();
    private RecordedSignOffs signOffs = new RecordedSignOffs();

    /** The logins that wrote or changed what awaits approval, by table and name. */
    private final Map<String, Set<String>> writers = new HashMap<>();

    /** The logins that removed or changed approvers of a rule since it was last approved. */
    private final Map<String, Set<String>> writersOfApprovers = new HashMap<>();

    private @Nullable String tenant;
    private boolean requireSecond;
    private String turnedOnIn = "";

    RecordedApprovals(Findings findings) {
        this.findings = findings;
    }

    /** The next change, by tenant and revision. */
    void add(RecordedChange change) {
        if (!Objects.equals(tenant, change.tenant())) {
            tenant = change.tenant();
            requests = new RecordedRequests();
            tokens = new TokenWriters();
            withdrawals = new RecordedWithdrawals();
            signOffs = new RecordedSignOffs();
            writers.clear();
            writersOfApprovers.clear();
            requireSecond = false;
            turnedOnIn = "";
        }
        tokens.add(change).ifPresent(findings::wrong);
        withdrawals.add(change, requests).ifPresent(findings::wrong);
        signOffs.add(change, requests.people()).ifPresent(findings::wrong);
        requests.people().wrongIssuer(change).ifPresent(why -> reportForged(change, why));
        switch (change.table()) {
            case "tenant" -> addTenant(change);
            case "key" -> addRow(change, "key", change.name("name"));
            case "subject_grant" -> addRow(change, "grant", change.name("id"));
            case "access_rule", "access_approver" -> {
                if (change.table().equals("access_approver")) {
                    addApprover(change);
                }
                addRow(change, change.table(), change.name("id"));
            }
            case "blocked_subject" -> addBlock(change);
            default -> {}
        }
        requests.add(change).ifPresent(why -> reportForged(change, why));
    }

    private void reportForged(RecordedChange change, String why) {
        findings.wrong(
                "forged_%s of tenant %s at change %d: %s"
                        .formatted(change.table(), tenant, change.revision(), why));
    }

    /** Checks a change that lifts, shortens or narrows a block, which takes two people. */
    private void addBlock(RecordedChange change) {
        JsonNode before = change.before();
        JsonNode after = change.after();
        String row = "blocked_subject " + change.name("id");
        Set<String> wrote = Objects.requireNonNullElseGet(writers.remove(row), HashSet::new);
        if (requireSecond
                && RecordedBlock.wasInForce(before, after, change.changedAt())
                && !RecordedBlock.stopsAsMuch(before, after)
                && (!RecordedBlock.isAsProposed(before, after)
                        || requests.people().isOneOf(change.changedBy(), wrote))) {
            findings.wrong(
                    "unapproved_%s of tenant %s at change %d: it was lifted, shortened or narrowed without the confirmation of a second login"
                            .formatted(row, tenant, change.revision()));
        }
        if (after.hasNonNull("proposed")) {
            wrote.add(change.changedBy());
            writers.put(row, wrote);
        }
    }

    private void addTenant(RecordedChange change) {
        boolean now = change.after().path("require_second_admin").asBoolean();
        if (now != requireSecond) {
            writers.clear();
            turnedOnIn = now ? change.transaction() : "";
            requireSecond = now;
            requests.requireSecond(now);
        }
    }

    private void addRow(RecordedChange change, String kind, String name) {
        String row = kind + " " + name;
        if (!change.after().isObject()) {
            writers.remove(row);
            return;
        }
        String before =
                kind + " " + change.before().path(kind.equals("key") ? "name" : "id").asText();
        Set<String> wrote = Objects.requireNonNullElseGet(writers.remove(before), HashSet::new);
        if (kind.equals("access_rule")
                && change.after().hasNonNull("approved_at")
                && !sameTime(change.before(), change.after())) {
            wrote.addAll(Objects.requireNonNullElseGet(writersOfApprovers.remove(name), Set::of));
        }
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

    private Optional<String> objection(RecordedChange change, Set<String> wrote) {
        JsonNode after = change.after();
        boolean same =
                change.before().isObject()
                        && !endsNoMoreAccess(change.before(), after)
                        && allows(change.before()).equals(allows(after))
                        && Votes.steps(after).containsAll(Votes.steps(change.before()));
        boolean disabled =
                change.before().isObject()
                        && !endsNoMoreAccess(change.before(), after)
                        && isOnlyDisabled(change.before(), after);
        if (after.hasNonNull("request_id")) {
            if (same || disabled) {
                return sameApproval(change.before(), after)
                        ? Optional.empty()
                        : Optional.of("its approval was changed later");
            }
            return requests.objection(
                    after,
                    change.changedAt(),
                    change.before().isObject() ? Grounds.CHANGED : Grounds.WRITTEN);
        }
        boolean isApproved = after.hasNonNull("approved_at");
        if (!isApproved || ((same || disabled) && sameApproval(change.before(), after))) {
            return Optional.empty();
        }
        if (!same) {
            return Optional.of("it was written as already approved");
        }
        String approver = after.path("approved_by").asText("");
        if (!after.hasNonNull("approved_by")) {
            return turnedOnIn.equals(change.transaction())
                    ? Optional.empty()
                    : Optional.of("it was put in force without an approval");
        }
        return approver.equals(change.changedBy()) && !requests.people().isOneOf(approver, wrote)
                ? Optional.empty()
                : Optional.of("it was approved only by a login that wrote or changed it");
    }

    /**
     * Follows a change of an approver. A login that removes or changes approvers of a rule changes
     * what the rule requires.
     */
    private void addApprover(RecordedChange change) {
        JsonNode before = change.before();
        if (before.isObject()
                && !(change.after().isObject() && allows(before).equals(allows(change.after())))) {
            writersOfApprovers
                    .computeIfAbsent(before.path("rule").asText(), rule -> new HashSet<>())
                    .add(change.changedBy());
        }
    }

    private static boolean sameTime(JsonNode before, JsonNode after) {
        return before.path("approved_at").equals(after.path("approved_at"));
    }

    private static boolean sameApproval(JsonNode before, JsonNode after) {
        return sameTime(before, after)
                && before.path("approved_by").equals(after.path("approved_by"));
    }

    /** Whether the end of a rule no longer ends the access that it led to. */
    private static boolean endsNoMoreAccess(JsonNode before, JsonNode after) {
        return before.path("end_access").asBoolean() && !after.path("end_access").asBoolean();
    }

    private static boolean isOnlyDisabled(JsonNode before, JsonNode after) {
        return before.path("enabled").asBoolean()
                && !after.path("enabled").asBoolean()
                && allows(before).without("enabled").equals(allows(after).without("enabled"));
    }

    /** A column that was added later is missing in older changes: as null. */
    static ObjectNode allows(JsonNode row) {
        ObjectNode kept = row.deepCopy();
        kept.remove(NOT_APPROVED);
        kept.properties().removeIf(column -> column.getValue().isNull());
        return kept;
    }
}
