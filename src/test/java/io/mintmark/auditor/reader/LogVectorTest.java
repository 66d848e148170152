package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.admin.cli.Commands;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The log of docs/audit-test-vector, for those who write a verifier of their own: the command and
 * the script come to the verdict that stands there, for it and for what was tampered with. No
 * database is asked.
 */
class LogVectorTest {
    static final Path VECTOR = Path.of("docs/audit-test-vector");
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir private Path directory;

    static Stream<JsonNode> variants() throws IOException {
        JsonNode variants = JSON.readTree(VECTOR.resolve("variants.json").toFile());
        return StreamSupport.stream(variants.spliterator(), false);
    }

    @ParameterizedTest
    @MethodSource("variants")
    void the_command_and_the_script_come_to_the_verdict_of_the_vector(JsonNode variant)
            throws Exception {
        Path log = Files.writeString(directory.resolve("log.jsonl"), tampered(variant));
        int status = variant.path("status").intValue();
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            assertEquals(status, verify(log), () -> said.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(before);
        }
        Script script = new Script(directory, null);
        List<String> arguments =
                List.of(VECTOR.resolve("kept.jsonl").toString(), "--export", log.toString());
        assertEquals(status, script.status(VECTOR.resolve("keys.pem"), arguments), script::output);
    }

    private int verify(Path log) {
        return new Commands(Map.of(), directory)
                .execute(
                        "audit",
                        "verify",
                        "--keys",
                        VECTOR.resolve("keys.pem").toAbsolutePath().toString(),
                        "--checkpoints",
                        VECTOR.resolve("kept.jsonl").toAbsolutePath().toString(),
                        "--export",
                        log.toString());
    }

    static String tampered(JsonNode variant) throws IOException {
        List<String> lines = new ArrayList<>(Files.readAllLines(VECTOR.resolve("log.jsonl")));
        if (variant.has("line")) {
            int at = variant.path("line").intValue() - 1;
            String line = lines.get(at);
            String what = variant.path("replace").textValue();
            assertTrue(line.contains(what), variant::toString);
            int place = line.indexOf(what);
            String other =
                    line.substring(0, place)
                            + variant.path("with").textValue()
                            + line.substring(place + what.length());
            if (variant.has("copy")) {
                lines.add(at + 1, other);
            } else {
                lines.set(at, other);
            }
        }
        variant.path("repeat").forEach(number -> lines.add(lines.get(number.intValue() - 1)));
        List<Integer> gone = new ArrayList<>();
        variant.path("delete").forEach(number -> gone.add(number.intValue() - 1));
        gone.reversed().forEach(at -> lines.remove(at.intValue()));
        if (variant.has("reverse")) {
            Collections.reverse(lines);
        }
        return String.join("\n", lines) + "\n" + variant.path("append").asText("");
    }

    @Test
    void an_export_that_is_not_there_is_told() {
        StoreUnreachable told =
                assertThrows(
                        StoreUnreachable.class,
                        () -> {
                            try (ExportedLog log =
                                    new ExportedLog(
                                            List.of(directory.resolve("none")),
                                            new Seals.Found())) {
                                log.events(row -> row, (_, _) -> {});
                            }
                        });
        assertTrue(
                String.valueOf(told.getMessage()).contains("doesn't exist or isn't readable"),
                told::getMessage);
    }

    @Test
    void the_hashes_of_the_vector_are_those_of_its_rows() throws Exception {
        List<String> found = new ArrayList<>();
        try (ExportedLog log =
                new ExportedLog(List.of(VECTOR.resolve("log.jsonl")), new Seals.Found())) {
            log.events(row -> row, (row, _) -> found.add("event\t" + place(row)));
            log.changes(row -> row, (row, _) -> found.add("change\t" + place(row)));
            log.checkpoints(stored ->
                    found.add(
                            "checkpoint\t\t%d\t%s"
                                    .formatted(stored.signed().number(), stored.signed().hash())));
        }
        assertEquals(
                Files.readAllLines(VECTOR.resolve("hashes.tsv")).stream()
                        .skip(1)
                        .map(line -> line.replaceFirst("\t[0-9a-f]*(\t[0-9a-f]{64})$", "$1"))
                        .sorted()
                        .toList(),
                found.stream().sorted().toList());
    }

    private static String place(LogReader.Row row) {
        assertTrue(HexFormat.of().parseHex(row.hash()).length == 32);
        return "%s\t%d\t%s".formatted(row.chain() == null ? "" : row.chain(), row.at(), row.hash());
    }
}
