package io.mintmark.auditor.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.audit.checkpoint.Cosignature;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

@Tag("every-postgres")
class ExportedCosignaturesTest {
    private static final String INSERT =
            """
            INSERT INTO audit.cosignature (tree, size, witness, line)
            VALUES (1, %1$d, '%2$s', chr(8212) || ' %2$s ' || repeat('A', 104))
            """;

    @AutoClose private static final TestDatabase database = TestDatabase.migrated();

    @TempDir private Path directory;

    private static long size() {
        return Seals.noted(database).treeHead().orElseThrow().size();
    }

    private static void cosign(long size, String witness) {
        database.run(Who.APP, INSERT.formatted(size, witness));
    }

    private Ran audit(String... arguments) throws Exception {
        return new AuditCommand(database, directory, Who.AUDITOR).run(arguments);
    }

    private Path export(String... further) throws Exception {
        Path output = directory.resolve("log.jsonl");
        List<String> arguments =
                new ArrayList<>(List.of("export", "--all", "--output", output.toString()));
        arguments.addAll(List.of(further));
        Ran ran = audit(arguments.toArray(String[]::new));
        assertEquals(0, ran.status(), ran.errors());
        return output;
    }

    private Path resume(String... further) throws Exception {
        List<String> arguments =
                new ArrayList<>(List.of("--state", directory.resolve("state.json").toString()));
        arguments.addAll(List.of(further));
        return export(arguments.toArray(String[]::new));
    }

    private static List<String> cosigned(Path export) throws Exception {
        return Files.readAllLines(export).stream()
                .flatMap(line -> ExportedLine.parse(line).stream())
                .flatMap(row -> Cosignature.in(row).stream())
                .map(each -> each.size() + " " + each.witness())
                .toList();
    }

    private void assertVerifies(Path export) throws Exception {
        Ran verified = audit("verify", "--export", export.toString());
        assertEquals(0, verified.status(), verified.output());
        Script script = new Script(directory, null);
        assertEquals(0, script.status(List.of("--export", export.toString())), script::output);
    }

    @Test
    void each_cosignature_is_exported_once_also_one_that_comes_late() throws Exception {
        long one = size();
        cosign(one, "w.example/1");
        resume();
        long two = size();
        cosign(two, "w.example/1");
        cosign(one, "w.example/2");
        resume();
        assertVerifies(resume());
        List<String> known = cosigned(directory.resolve("log.jsonl"));
        assertEquals(
                List.of(one + " w.example/1", two + " w.example/1", one + " w.example/2"),
                known.subList(known.size() - 3, known.size()));
        assertEquals(
                database.value("SELECT count(*) FROM audit.cosignature"),
                Integer.toString(known.size()));
    }

    /** A number that is committed after a higher one would be skipped by a running export. */
    @Test
    void a_number_is_given_when_the_one_before_is_committed() throws Exception {
        long size = size();
        try (Connection held = database.connect(Who.APP);
                Connection other = database.connect(Who.APP);
                Statement first = held.createStatement();
                Statement second = other.createStatement()) {
            held.setAutoCommit(false);
            first.execute(INSERT.formatted(size, "held.example"));
            second.execute("SET lock_timeout = '10ms'");
            SQLException refused =
                    assertThrows(
                            SQLException.class,
                            () -> second.execute(INSERT.formatted(size, "later.example")));
            assertEquals("55P03", refused.getSQLState());
            held.commit();
        }
        cosign(size, "later.example");
        assertEquals(
                "held.example later.example",
                database.value(
                        "SELECT string_agg(witness, ' ' ORDER BY number) FROM audit.cosignature WHERE size = "
                                + size));
    }

    @Test
    void a_part_of_the_log_has_the_cosignatures_of_its_notes() throws Exception {
        Seals.seal(database);
        long size = size();
        cosign(size, "w.example/1");
        cosign(size + 1_000, "w.example/1");
        Path part = export("--from", "2026-01-01");
        assertTrue(cosigned(part).contains(size + " w.example/1"));
        assertTrue(!cosigned(part).contains(size + 1_000 + " w.example/1"));
        assertVerifies(part);
    }

    @Test
    void an_ocsf_export_with_cosignatures_verifies_too() throws Exception {
        cosign(size(), "w.example/1");
        Path export = resume("--format", "ocsf");
        assertTrue(Files.readString(export).contains("cosignature of w.example/1"));
        Ran verified = audit("verify", "--export", export.toString(), "--format", "ocsf");
        assertEquals(0, verified.status(), verified.output());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    "tree":1  | "tree":0
                    "tree":1  | "tree":"1"
                    "tree":1, | ''
                    "tree":1  | "tree":1,"colour":"red"
                    T         | X
                    """)
    void a_line_that_no_export_writes_is_found(String from, String to) throws Exception {
        cosign(size(), "w.example/1");
        Path export = resume();
        String line = Files.readAllLines(export).getLast();
        assertTrue(line.startsWith("{\"cosignature\":"), line);
        String changed =
                line.replaceFirst("\"line\":\"[^\"]*\"", "\"line\":\"\"").replace(from, to);
        Files.writeString(export, changed + "\n", StandardOpenOption.APPEND);
        Ran verified = audit("verify", "--export", export.toString());
        assertEquals(1, verified.status(), verified.output());
        assertTrue(verified.output().contains("the format of an export"), verified.output());
        Script script = new Script(directory, null);
        assertEquals(1, script.status(List.of("--export", export.toString())), script::output);
        assertTrue(script.output().contains("the format of an export"), script::output);
    }
}
