package io.mintmark.auditor.command;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.text.VisibleText;
import io.mintmark.auditor.explain.Explanations;
import io.mintmark.auditor.explain.Past;
import io.mintmark.base.output.ExportedRow;

import java.io.PrintStream;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Prints what the audit log recorded of a request, and the changes since. */
final class PastReport {
    private static final int CHANGES_SHOWN = 20;

    private final Explanations explanations;
    private final PrintStream out;

    PastReport(Explanations explanations, PrintStream out) {
        this.explanations = explanations;
        this.out = out;
    }

    /** Prints a line for each key, and below it the grant that allowed the key, as it was then. */
    void recorded(List<Past> past) {
        out.println("Recorded decision:");
        past.forEach(this::recorded);
    }

    private void recorded(Past one) {
        out.printf(
                "%s  %s  %s%s%n",
                one.at(),
                one.key().orElse("-"),
                one.kind(),
                one.reason().map(reason -> ": " + reason).orElse(""));
        one.detail().ifPresent(detail -> out.println("    " + VisibleText.of(detail)));
        one.grantId()
                .ifPresent(id ->
                        out.printf(
                                "    by grant %d, at revision %s of tenant %s: %s%n",
                                id,
                                one.revision().map(String::valueOf).orElse("?"),
                                one.tenant().orElse("-"),
                                one.grantThen().map(PastReport::grant).orElse("not on record")));
    }

    private static String grant(String row) {
        JsonNode grant = ExportedRow.parse(row);
        String what =
                Stream.of(
                                field(grant, "claims", "claims "),
                                field(grant, "valid_from", "from "),
                                field(grant, "valid_until", "until "),
                                field(grant, "max_duration", "seconds "),
                                field(grant, "reason", "because "))
                        .flatMap(Optional::stream)
                        .collect(Collectors.joining(", "));
        return "%s %s of %s%s; made by %s at %s"
                .formatted(
                        text(grant, "match"),
                        text(grant, "subject"),
                        text(grant, "idp"),
                        what.isEmpty() ? "" : ", " + what,
                        text(grant, "created_by"),
                        text(grant, "created_at"));
    }

    private static Optional<String> field(JsonNode grant, String name, String label) {
        JsonNode value = grant.path(name);
        boolean said = !value.isNull() && !value.isMissingNode() && !value.toString().equals("{}");
        return said ? Optional.of(label + text(grant, name)) : Optional.empty();
    }

    private static String text(JsonNode row, String member) {
        return VisibleText.of(ExportedRow.text(row.path(member)));
    }

    /**
     * Prints whether, by whom and how the tenant's configuration was changed after the decision.
     */
    void changedSince(Past one) {
        if (one.tenant().isEmpty() || one.revision().isEmpty()) {
            out.println("The log does not show whether the configuration has changed since.");
            return;
        }
        long then = one.revision().get();
        List<Past.Change> changes = explanations.changes(one.tenant().get(), then, CHANGES_SHOWN);
        if (changes.isEmpty()) {
            out.printf(
                    "The configuration of tenant %s has not changed since.%n", one.tenant().get());
            return;
        }
        out.printf(
                "The configuration of tenant %s has changed since, from revision %d to %d; the last changes:%n",
                one.tenant().get(), then, changes.getFirst().revision());
        changes.forEach(change ->
                out.printf(
                        "    %d  %s  %s  %s broker.%s %s%n",
                        change.revision(),
                        change.at(),
                        VisibleText.of(change.by()),
                        change.operation(),
                        change.table(),
                        VisibleText.of(change.name())));
        if (changes.getFirst().total() > changes.size()) {
            out.printf("    and %d more%n", changes.getFirst().total() - changes.size());
        }
    }
}
