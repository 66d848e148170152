package io.mintmark.admin.audit;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.text.VisibleText;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.output.ExportedRow;

import org.jspecify.annotations.Nullable;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Changes of the configuration that an export has and the database lacks, by name. */
final class ExportedChanges {
    private static final int AT_ONCE = 1_000;
    private static final String HEX = "\\x";

    private final PostgresLog log;
    private final List<JsonNode> read = new ArrayList<>();
    private final List<String> lost = new ArrayList<>();

    private ExportedChanges(PostgresLog log) {
        this.log = log;
    }

    /**
     * Compares an export with the database.
     *
     * @param export lines of {@code audit export --all}
     */
    static List<String> lost(Path export, PostgresLog log) {
        ExportedChanges changes = new ExportedChanges(log);
        try (BufferedReader lines = Files.newBufferedReader(export)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                changes.add(line);
            }
        } catch (IOException e) {
            throw new CommandFailed("--export: " + e.getMessage());
        }
        changes.compare();
        return List.copyOf(changes.lost);
    }

    private void add(String line) {
        if (!line.contains("\"table_name\"")) {
            return;
        }
        JsonNode row = ExportedRow.parse(line);
        if (row.hasNonNull("table_name")) {
            read.add(row);
            if (read.size() == AT_ONCE) {
                compare();
            }
        }
    }

    private void compare() {
        List<Position> places = read.stream().map(ExportedChanges::place).toList();
        List<@Nullable String> hashes = places.isEmpty() ? List.of() : log.changeHashes(places);
        for (int i = 0; i < places.size(); i++) {
            if (!places.get(i).hash().equals(hashes.get(i))) {
                lost.add(name(read.get(i)));
            }
        }
        read.clear();
    }

    private static Position place(JsonNode row) {
        return new Position(
                tenant(row),
                row.path("revision").asLong(),
                row.path("hash").asText().replace(HEX, ""));
    }

    private static Optional<String> tenant(JsonNode row) {
        return row.hasNonNull("tenant")
                ? Optional.of(row.path("tenant").asText())
                : Optional.empty();
    }

    /** An update or a deletion may have been a revocation, which is undone now, as is a block. */
    private static String name(JsonNode row) {
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
                                undone ? "Undone, so repeat this change" : "Lost",
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
