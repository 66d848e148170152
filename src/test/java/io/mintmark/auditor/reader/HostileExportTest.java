package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.sql.Script;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntFunction;

/**
 * Exports that were made to keep a verifier busy, to fill its memory or to have it break off. The
 * command and the script come to a verdict, the same one, in time that grows with the export.
 */
@Tag("heavy")
class HostileExportTest {
    private static final Path VECTOR = Path.of("docs/audit-test-vector");
    private static final int LINES = 12_000;

    /** What is written into a row in place of a value. */
    private static final List<String> VALUES =
            List.of(
                    "null",
                    "true",
                    "9223372036854775808",
                    "-9223372036854775809",
                    "1e400",
                    "-0",
                    "1.0",
                    "NaN",
                    "Infinity",
                    "\"\"",
                    "\"\\ud800\"",
                    "\"\\u0000\"",
                    "\"2026-99-01T00:00:00+00:00\"",
                    "\"2026-02-30T00:00:00+00:00\"",
                    "\"0000-01-01T00:00:00+00:00\"",
                    "\"9999-12-31T23:59:59.999999+00:00\"",
                    "\"99999-01-01T00:00:00+00:00\"",
                    "\"\\\\x0\"",
                    "\"\\\\xzz\"",
                    "\"::ffff:1.2.3.4/129\"",
                    "\"1.2.3\"",
                    "\"%\"",
                    "[]",
                    "{}",
                    "[[[[[[[[[[[[",
                    "{\"a\":1,\"a\":2}",
                    "{\"glob\":\"*\"}");

    @TempDir private Path directory;
    private List<String> lines = List.of();
    private Path log = Path.of("log.jsonl");
    private String said = "";

    @BeforeEach
    void read() throws Exception {
        lines = Files.readAllLines(VECTOR.resolve("log.jsonl"));
        log = directory.resolve("log.jsonl");
    }

    private int command() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = System.out;
        PrintStream errors = System.err;
        try (PrintStream both = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
            System.setOut(both);
            System.setErr(both);
            return new Commands(Map.of(), directory)
                    .execute(
                            "audit",
                            "verify",
                            "--keys",
                            VECTOR.resolve("keys.pem").toAbsolutePath().toString(),
                            "--export",
                            log.toString());
        } finally {
            System.setOut(out);
            System.setErr(errors);
            said = bytes.toString(StandardCharsets.UTF_8);
        }
    }

    /** Both, which have to agree. */
    private int verdict() throws Exception {
        int status = command();
        assertFalse(said.contains("Exception"), said);
        Script script = new Script(directory, null);
        int scripts =
                script.status(VECTOR.resolve("keys.pem"), List.of("--export", log.toString()));
        assertFalse(script.output().contains("Traceback"), script::output);
        assertEquals(status, scripts, () -> said + script.output());
        return status;
    }

    private void write(List<String> given) throws Exception {
        Files.write(log, given);
    }

    /** The work grew with the square of their number: many times as much for these. */
    @Test
    void many_lines_of_one_place_are_no_more_work_than_many_of_different_ones() throws Exception {
        Duration different = work(at -> "\"seq\": " + (1_000 + at));
        Duration same = work(_ -> "\"seq\": 1000");

        assertTrue(said.contains("findings"), said);
        assertTrue(
                same.compareTo(different.multipliedBy(4).plusSeconds(1)) < 0,
                same + " and " + different);
        Script script = new Script(directory, null);
        assertEquals(
                1,
                script.status(VECTOR.resolve("keys.pem"), List.of("--export", log.toString())),
                script::output);
    }

    /** The processor's time for so many lines that differ, each with what is given as its place. */
    private Duration work(IntFunction<String> place) throws Exception {
        String row =
                lines.stream()
                        .filter(line -> line.contains("\"kind\": \"issued\""))
                        .findFirst()
                        .orElseThrow();
        try (BufferedWriter out = Files.newBufferedWriter(log)) {
            out.write(String.join("\n", lines) + "\n");
            for (int i = 0; i < LINES; i++) {
                out.write(
                        row.replaceFirst("\"seq\": [0-9]+", place.apply(i))
                                        .replaceFirst(
                                                "\"request_id\": \"[^\"]*\"",
                                                "\"request_id\": \"" + i + "\"")
                                + "\n");
            }
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadCpuTime();
        assertEquals(1, command());
        return Duration.ofNanos(threads.getCurrentThreadCpuTime() - before);
    }

    @Test
    void a_gap_of_any_size_is_one_finding() throws Exception {
        List<String> altered = new ArrayList<>(lines);
        int last = altered.size() - 1;
        while (!altered.get(last).contains("\"mint_id\"")) {
            last--;
        }
        altered.add(
                altered.get(last).replaceFirst("\"seq\": [0-9]+", "\"seq\": 999999999999999999"));
        write(altered);

        assertEquals(1, verdict());
    }

    @Test
    void a_line_without_end_is_not_kept() throws Exception {
        byte[] block = new byte[1 << 20];
        Arrays.fill(block, (byte) 'x');
        try (OutputStream out = Files.newOutputStream(log)) {
            out.write((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
            for (int i = 0; i < 600; i++) {
                out.write(block);
            }
            out.write('\n');
        }
        assertEquals(1, verdict());
        assertTrue(said.contains("line has more than 4194304 bytes"), said);
    }

    /** A value of a row, or a character, is another one. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void both_verifiers_come_to_the_same_verdict_whatever_a_row_has(long seed) throws Exception {
        Random random = new Random(seed);
        for (int i = 0; i < 12; i++) {
            List<String> altered = new ArrayList<>(lines);
            for (int edits = 1 + random.nextInt(3); edits > 0; edits--) {
                int at = random.nextInt(altered.size());
                altered.set(at, altered(altered.get(at), random));
            }
            write(altered);
            assertEquals(1, verdict(), said);
        }
    }

    private static String altered(String line, Random random) {
        int from = line.indexOf(':', random.nextInt(line.length() - 20)) + 1;
        if (from == 0 || random.nextInt(4) == 0) {
            int at = random.nextInt(line.length());
            return line.substring(0, at)
                    + "\u0001\u20ac]".charAt(random.nextInt(3))
                    + line.substring(at + 1);
        }
        int to = line.indexOf(',', from);
        return line.substring(0, from)
                + VALUES.get(random.nextInt(VALUES.size()))
                + line.substring(to < 0 ? line.length() - 1 : to);
    }

    /** Each of a row that a broker wrote, by the text of a member and what replaces it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    "kind": "requested"           | "grant_revision": [0-9]+  | "grant_revision": 9223372036854775808
                    "kind": "requested"           | "shared_revision": [0-9]+ | "shared_revision": 99999999999999999999
                    "kind": "requested"           | "claims": [{][^}]*[}]     | "claims": {"a": 1e99999999999999999999}
                    "kind": "requested"           | "client_address": "[^"]*" | "client_address": "::::::::::::::::"
                    "table_name": "subject_grant" | "claims": [{][}]          | "claims": {"a": 1e-99999999999999999999}
                    "table_name": "subject_grant" | "claims": [{][}]          | "claims": {"a": [1e400]}
                    "table_name": "subject_grant" | "valid_until": null       | "valid_until": "2026-99-01T00:00:00+00:00"
                    "table_name": "subject_grant" | "max_duration": null      | "max_duration": 1e999999
                    "table_name": "subject_grant" | "subject": "[^"]*"        | "subject": "\\\\ud800"
                    "table_name": "tenant"        | "name": "acme"            | "name": "\\\\ud800"
                    "table_name": "tenant"        | "external_id": "[^"]*"    | "external_id": []
                    "checkpoint":                 | "sealed_at":"[^"]*"       | "sealed_at":"2026-99-01T00:00:00Z"
                    "checkpoint":                 | "checkpoint":1            | "checkpoint":1e0
                    "checkpoint":                 | "jws":"                   | "jws":"W10.W10.
                    """)
    void a_value_that_no_broker_writes_is_a_finding(String row, String value, String other)
            throws Exception {
        List<String> altered = new ArrayList<>(lines);
        int at = 0;
        while (!altered.get(at).contains(row)) {
            at++;
        }
        String line = altered.get(at).replaceFirst(value, other);
        assertNotEquals(altered.get(at), line);
        altered.set(at, line);
        write(altered);

        assertEquals(1, verdict(), said);
    }

    /** The script tried each of these quotes as the beginning of a text that ends somewhere. */
    @Test
    @Timeout(Eventually.SECONDS)
    void a_text_without_end_is_read_once() throws Exception {
        List<String> altered = new ArrayList<>(lines);
        altered.add("[".repeat(1_001) + "\"" + "\\\"".repeat(1_000_000));
        write(altered);

        assertEquals(1, verdict(), said);
    }

    /** As many comparisons would take hours. */
    @Test
    @Timeout(Eventually.SECONDS)
    void a_decision_that_is_more_work_than_a_broker_does_is_not_made() throws Exception {
        String glob = "{\"glob\": \"*a*a*a*b\"}";
        String claim = "\"" + "a".repeat(2_000) + "\"";
        List<String> altered = new ArrayList<>();
        for (String line : lines) {
            altered.add(
                    line.replace(
                                    "\"required_claims\": {}",
                                    "\"required_claims\": {\"ref\": [%s]}"
                                            .formatted(
                                                    String.join(
                                                            ", ",
                                                            Collections.nCopies(10_000, glob))))
                            .replace(
                                    "\"claims\": {\"ref\": \"main\"}",
                                    "\"claims\": {\"ref\": [%s]}"
                                            .formatted(
                                                    String.join(
                                                            ", ",
                                                            Collections.nCopies(200, claim)))));
        }
        assertTrue(altered.stream().mapToLong(String::length).sum() > 10_000_000);
        write(altered);

        assertEquals(1, verdict(), said);
        assertTrue(
                said.contains("the tenant's rules exceed the limit for evaluating a request"),
                said);
    }

    @Test
    void keys_that_signed_no_checkpoint_are_one_finding() throws Exception {
        write(lines);
        Script script = new Script(directory, null);
        Path other = directory.resolve("keys.pem");

        int status =
                new Commands(Map.of(), directory)
                        .execute(
                                "audit",
                                "verify",
                                "--keys",
                                other.toString(),
                                "--export",
                                log.toString());
        assertEquals(1, status);
        assertEquals(1, script.status(other, List.of("--export", log.toString())));
        assertEquals(
                1,
                script.output().lines().filter(line -> line.startsWith("WRONG")).count(),
                script::output);
        assertTrue(
                script.output().contains("none of the 4 checkpoints is signed by a trusted key"),
                script::output);
    }
}
