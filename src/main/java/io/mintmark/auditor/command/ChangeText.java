package io.mintmark.auditor.command;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.output.ExportedRow;

import java.io.PrintStream;
import java.util.Set;
import java.util.TreeSet;

/** Prints changes of the configuration for people. External text can't move the cursor. */
final class ChangeText {
    /** Columns that every change of a row updates. */
    private static final Set<String> BOOKKEEPING =
            Set.of("created_at", "created_by", "updated_at", "updated_by");

    private final PrintStream out;

    ChangeText(PrintStream out) {
        this.out = out;
    }

    /** A row of {@code audit.change}. */
    void print(JsonNode row) {
        out.printf(
                "%s %s %s %s %s, revision %s of %s%n",
                text(row.path("changed_at")),
                text(row.path("changed_by")),
                text(row.path("operation")),
                text(row.path("table_name")),
                text(row.path("name")),
                text(row.path("revision")),
                row.path("tenant").isNull()
                        ? "the tables without tenant"
                        : "tenant " + text(row.path("tenant")));
        JsonNode before = row.path("before");
        JsonNode after = row.path("after");
        Set<String> columns = new TreeSet<>();
        before.fieldNames().forEachRemaining(columns::add);
        after.fieldNames().forEachRemaining(columns::add);
        columns.removeAll(BOOKKEEPING);
        for (String column : columns) {
            JsonNode old = before.path(column);
            JsonNode now = after.path(column);
            if (!old.equals(now) && !(isNothing(old) && isNothing(now))) {
                out.printf("  %s: %s -> %s%n", VisibleText.of(column), text(old), text(now));
            }
        }
    }

    private static boolean isNothing(JsonNode value) {
        return value.isNull() || value.isMissingNode();
    }

    private static String text(JsonNode value) {
        return isNothing(value) ? "-" : VisibleText.of(ExportedRow.text(value));
    }
}
