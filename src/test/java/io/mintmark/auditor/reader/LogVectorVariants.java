package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.auditor.reader.PlacedLine.Chain;
import io.mintmark.auditor.verify.LogReader;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Those variants of docs/audit-test-vector that add rows whose hashes fit, for a new log. */
final class LogVectorVariants {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path KNOWN = Path.of("docs/audit-test-vector/variants.json");

    private final String requested;
    private final String issued;

    /**
     * @param lines of the log, with the two rows of a mint and two checkpoints at its end
     */
    private LogVectorVariants(List<String> lines) {
        this.requested = lines.get(lines.size() - 4);
        this.issued = lines.get(lines.size() - 3);
    }

    static void write(Path directory) throws IOException {
        LogVectorVariants made =
                new LogVectorVariants(Files.readAllLines(directory.resolve("log.jsonl")));
        Map<String, String> rows =
                Map.of(
                        "a second outcome behind the last checkpoint, whose hash fits",
                        made.after(made.issued, LogVectorVariants::secondOutcome),
                        "a step raised, in a row whose hash fits",
                        made.after(
                                made.issued,
                                row -> secondOutcome(row).replace("\"step\": 2", "\"step\": 4")),
                        "a mint that is older than its grant, in a row whose hash fits",
                        made.after(made.requested, LogVectorVariants::older));
        List<String> variants = new ArrayList<>();
        for (JsonNode variant : JSON.readTree(KNOWN.toFile())) {
            String row = rows.get(variant.path("name").asText());
            if (row != null) {
                ((ObjectNode) variant).put("append", row + "\n");
            }
            variants.add("  " + variant);
        }
        Files.writeString(
                directory.resolve("variants.json"), "[\n" + String.join(",\n", variants) + "\n]\n");
    }

    private static String secondOutcome(String row) {
        return row.replace("\"issued\"", "\"failed\"")
                .replace("\"reason\": null", "\"reason\": \"decided_again\"");
    }

    /** Months before its grant; the mint's id and its credential's end follow. */
    private static String older(String row) {
        return row.replaceFirst(
                        "\"mint_id\": \"[^\"]+",
                        "\"mint_id\": \"019c13ec-9e00-7000-8000-000000000000")
                .replaceFirst(
                        "\"occurred_at\": \"[^\"]+", "\"occurred_at\": \"2026-01-31T12:00:00+00:00")
                .replaceFirst(
                        "\"expires_at\": \"[^\"]+", "\"expires_at\": \"2026-01-31T13:00:00+00:00");
    }

    /** A row that follows the last one of its chain. */
    private String after(String row, UnaryOperator<String> change) {
        String next =
                change.apply(row)
                        .replaceFirst("\"seq\": [0-9]+", "\"seq\": 27")
                        .replaceFirst(
                                "(\"prev_hash\": \"\\\\{2}x)[0-9a-f]+", "$1" + read(issued).hash());
        return next.replaceFirst("(\"hash\": \"\\\\{2}x)[0-9a-f]+", "$1" + read(next).computed());
    }

    private static LogReader.Row read(String line) {
        PlacedLine placed = new PlacedLine(new Chain(1, Optional.of("vector")), 1, "", line);
        return ExportedColumns.EVENT.row(placed, ExportedLine.parse(line).orElseThrow(), "");
    }
}
