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
import java.util.HashMap;
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
                new HashMap<>(
                        Map.of(
                                "a second outcome behind the last checkpoint, whose hash fits",
                                made.after(made.issued, LogVectorVariants::secondOutcome),
                                "a step raised, in a row whose hash fits",
                                made.after(
                                        made.issued,
                                        row ->
                                                secondOutcome(row)
                                                        .replace("\"step\": 2", "\"step\": 4")),
                                "a mint that is older than its grant, in a row whose hash fits",
                                made.after(made.requested, LogVectorVariants::older)));
        rows.putAll(ofRequests(directory));
        List<String> variants = new ArrayList<>();
        for (JsonNode variant : JSON.readTree(KNOWN.toFile())) {
            String row = rows.get(variant.path("name").asText());
            if (row != null) {
                ((ObjectNode) variant).put("append", row.strip() + "\n");
            }
            variants.add("  " + variant);
        }
        Files.writeString(
                directory.resolve("variants.json"), "[\n" + String.join(",\n", variants) + "\n]\n");
    }

    /** Decisions behind the last checkpoint: as they were made, and altered with all hashes. */
    private static Map<String, String> ofRequests(Path directory) throws IOException {
        List<String> consent = Files.readAllLines(directory.resolve("consent.jsonl"));
        List<String> steps = Files.readAllLines(directory.resolve("steps.jsonl"));
        List<String> withdrawal = Files.readAllLines(directory.resolve("withdrawal.jsonl"));
        String consented = String.join("\n", consent);
        String approved = consented + "\n" + String.join("\n", steps);
        UnaryOperator<String> byBobAgain =
                row ->
                        row.replace("\"idp\": \"bots\"", "\"idp\": \"people\"")
                                .replace("bots.example.com", "people.example.com")
                                .replace("\"subject\": \"gate\"", "\"subject\": \"user:bob\"");
        return Map.of(
                "a consent behind the last checkpoint",
                consented,
                "a consent by a token of over five minutes, in rows whose hashes fit",
                altered(
                        consent,
                        row -> row.replaceFirst("\"token_age\": [0-9]+", "\"token_age\": 301")),
                "a consent of somebody else, in rows whose hashes fit",
                altered(consent, row -> row.replace("user:eve", "user:bob")),
                "approvals in two steps behind the last checkpoint",
                approved,
                "two approvals of one person in two steps, in rows whose hashes fit",
                consented + "\n" + altered(steps, byBobAgain),
                "an approval of a program in the place of a person's, in rows whose hashes fit",
                consented
                        + "\n"
                        + altered(
                                steps,
                                row -> row.replace("\"program\": false", "\"program\": true")),
                "a withdrawal behind the last checkpoint",
                approved + "\n" + String.join("\n", withdrawal),
                "a withdrawal of somebody who may not, in rows whose hashes fit",
                approved
                        + "\n"
                        + altered(withdrawal, row -> row.replace("user:bob", "user:mallory")));
    }

    /** Rows that follow each other in one history, with changed decisions. */
    private static String altered(List<String> rows, UnaryOperator<String> change) {
        List<String> altered = new ArrayList<>();
        String previous = "";
        for (String row : rows) {
            String next = row.contains("\"access_decision\"") ? change.apply(row) : row;
            if (!previous.isEmpty()) {
                next = next.replaceFirst("(\"prev_hash\": \"\\\\{2}x)[0-9a-f]+", "$1" + previous);
            }
            previous = read(ExportedColumns.CHANGE, next).computed();
            altered.add(next.replaceFirst("(\"hash\": \"\\\\{2}x)[0-9a-f]+", "$1" + previous));
        }
        return String.join("\n", altered);
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
                                "(\"prev_hash\": \"\\\\{2}x)[0-9a-f]+",
                                "$1" + read(ExportedColumns.EVENT, issued).hash());
        return next.replaceFirst(
                "(\"hash\": \"\\\\{2}x)[0-9a-f]+",
                "$1" + read(ExportedColumns.EVENT, next).computed());
    }

    private static LogReader.Row read(ExportedColumns columns, String line) {
        PlacedLine placed = new PlacedLine(new Chain(1, Optional.of("vector")), 1, "", line);
        return columns.row(placed, ExportedLine.parse(line).orElseThrow(), "");
    }
}
