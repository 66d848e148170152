package io.mintmark.admin.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;

import io.mintmark.audit.log.LostRow;
import io.mintmark.audit.log.MissingRows;
import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.output.ExportedRow;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Changes of the configuration that an export has and the database lacks. The export may go on: the
 * database is asked for a change only after its line is in the file.
 */
final class ExportedChanges {
    private static final int AT_ONCE = 1_000;
    private static final String HEX = "\\x";

    private final MissingRows database;
    private final List<Lost> read = new ArrayList<>();
    private final List<Lost> lost = new ArrayList<>();
    private boolean ended = true;

    /**
     * A lost change.
     *
     * @param row what the database lacks
     * @param text what the change did
     */
    record Lost(LostRow row, String text) {}

    private ExportedChanges(MissingRows database) {
        this.database = database;
    }

    /**
     * Compares an export with the database.
     *
     * @param export lines of {@code audit export --all}
     * @throws CommandFailed if the file can't be read, or isn't an export
     */
    static List<Lost> lost(Path export, MissingRows database) {
        ExportedChanges changes = new ExportedChanges(database);
        try (BufferedReader lines = Files.newBufferedReader(export)) {
            long number = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                changes.add(line, ++number);
            }
        } catch (IOException e) {
            throw new CommandFailed("--export: " + e.getMessage());
        }
        if (!changes.ended) {
            System.out.println(
                    "The last line of the export is incomplete, so its row was not compared.");
        }
        changes.compare();
        return List.copyOf(changes.lost);
    }

    private void add(String line, long number) {
        if (!ended) {
            throw new CommandFailed("--export: line %d is not valid JSON".formatted(number - 1));
        }
        if (!line.contains("\"table_name\"")) {
            return;
        }
        JsonNode row = parsed(line);
        if (row.hasNonNull("table_name")) {
            read.add(new Lost(place(row), text(row)));
            if (read.size() == AT_ONCE) {
                compare();
            }
        }
    }

    /** The last line may be half a line, if the export was interrupted or goes on. */
    private JsonNode parsed(String line) {
        try {
            return ExportedRow.parse(line);
        } catch (IllegalStateException e) {
            ended = false;
            return MissingNode.getInstance();
        }
    }

    private void compare() {
        Set<LostRow> missing = new HashSet<>(database.among(read.stream().map(Lost::row).toList()));
        read.stream().filter(each -> missing.contains(each.row())).forEach(lost::add);
        read.clear();
    }

    private static LostRow place(JsonNode row) {
        return new LostRow(
                LostRow.Kind.CHANGE,
                tenant(row).orElse(""),
                row.path("revision").asLong(),
                row.path("hash").asText().replace(HEX, ""));
    }

    private static Optional<String> tenant(JsonNode row) {
        return row.hasNonNull("tenant")
                ? Optional.of(row.path("tenant").asText())
                : Optional.empty();
    }

    /** An update or a deletion may have been a revocation, which is undone now, as is a block. */
    private static String text(JsonNode row) {
        String table = row.path("table_name").asText();
        boolean undone =
                !row.path("operation").asText().equals("INSERT") || table.equals("blocked_subject");
        JsonNode values = row.path(row.hasNonNull("after") ? "after" : "before");
        String named =
                Stream.of("id", "name", "subject", "key")
                        .filter(values::hasNonNull)
                        .map(column -> column + " " + ExportedRow.text(values.path(column)))
                        .collect(Collectors.joining(", "));
        return VisibleText.of(
                "%s: %s of %s (%s), revision %d of %s, by %s"
                        .formatted(
                                undone ? "Lost, so make this change again" : "Lost",
                                row.path("operation").asText(),
                                table,
                                named,
                                row.path("revision").asLong(),
                                tenant(row)
                                        .map(name -> "tenant " + name)
                                        .orElse("the tables without tenant"),
                                row.path("changed_by").asText()));
    }
}
