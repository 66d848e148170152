package io.mintmark.auditor.command;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.SealedRows;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** An OCSF export is proven whole: each field of each event, and that none is missing. */
class OcsfProofTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir private static Path directory;
    @AutoClose private static TestDatabase database;
    private static AuditCommand audit;
    private static List<String> lines = List.of();

    @BeforeAll
    static void export() throws Exception {
        database = TestDatabase.migrated();
        SealedRows.write(database, 3);
        audit = new AuditCommand(database, directory, Who.AUDITOR);
        lines = Files.readAllLines(exported("ocsf"));
    }

    private static Path exported(String format) {
        Path file = directory.resolve("log." + format);
        Ran ran =
                audit.run(
                        "export",
                        "--all",
                        "--state",
                        directory.resolve("state." + format).toString(),
                        "--format",
                        format,
                        "--output",
                        file.toString());
        assertEquals(0, ran.status(), ran.errors());
        return file;
    }

    private static Ran verify(List<String> events, String... format) throws Exception {
        Path file = Files.write(directory.resolve("changed.ocsf"), events);
        List<String> arguments = new ArrayList<>(List.of("verify", "--export", file.toString()));
        arguments.addAll(List.of(format));
        return audit.run(arguments.toArray(String[]::new));
    }

    @Test
    void an_export_as_it_was_written_is_intact() throws Exception {
        Ran ran = verify(lines, "--format", "ocsf");
        assertEquals(0, ran.status(), ran.output() + ran.errors());
        assertShows(ran.output(), "6 events and");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"user\":{\"name\":\"ci:main\"      | \"user\":{\"name\":\"ci:evil\"",
                "\"severity_id\":1                   | \"severity_id\":2",
                "\"seq\\\":                          | \"Seq\\\":",
                "\\\"subject\\\": \\\"ci:main\\\"    | \\\"subject\\\": \\\"ci:evil\\\"",
                "\"class_uid\":3003                  | \"class_uid\":3003,\"count\":7",
                "\"raw_data\":                       | \"raw\":",
            })
    void a_field_that_was_changed_is_found(String field, String other) throws Exception {
        List<String> changed = new ArrayList<>(lines);
        int at = 0;
        while (!changed.get(at).contains(field) || !changed.get(at).contains("\"issued\"")) {
            at++;
        }
        String line = changed.get(at).replace(field, other);
        changed.set(at, line);
        Ran ran = verify(changed, "--format", "ocsf");
        assertEquals(1, ran.status(), ran.output());
        assertShows(ran.output(), "NOT intact");
    }

    @Test
    void an_event_that_is_missing_is_found() throws Exception {
        for (int at = lines.size() - 1; at >= 0; at -= 9) {
            List<String> fewer = new ArrayList<>(lines);
            fewer.remove(at);
            assertEquals(1, verify(fewer, "--format", "ocsf").status(), lines.get(at));
        }
    }

    @Test
    void the_script_verifies_the_rows_that_the_events_carry() throws Exception {
        Script.assumeItRuns();
        List<String> rows = new ArrayList<>();
        for (String line : lines) {
            rows.add(JSON.readTree(line).path("raw_data").textValue());
        }
        assertEquals(Files.readAllLines(exported("jsonl")), rows);
        Path file = Files.write(directory.resolve("rows.jsonl"), rows);
        Script script = new Script(directory, database);
        assertEquals(0, script.status(List.of("--export", file.toString())), script::output);
    }

    @Test
    void a_file_of_another_format_is_named() throws Exception {
        Ran ran = verify(lines);
        assertEquals(1, ran.status());
        assertShows(ran.errors(), "is an OCSF export. To verify it, add --format ocsf");
        ran = audit.run("verify", "--format", "ocsf", "--export", exported("jsonl").toString());
        assertEquals(1, ran.status());
        assertShows(
                ran.errors(), "is not an OCSF export. To verify jsonl, leave out --format ocsf");
        ran = verify(List.of("mint_id,step,kind"));
        assertEquals(1, ran.status());
        assertShows(ran.errors(), "is a CSV export, which has no changes and no checkpoints");
        ran = verify(lines, "--format", "csv");
        assertShows(ran.errors(), "--format: a CSV export can't be verified");
    }
}
