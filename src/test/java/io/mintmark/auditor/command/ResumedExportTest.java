package io.mintmark.auditor.command;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.audit.Event;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Exports that are cut off, disturbed and resumed, on a log that two replicas write to. */
@Tag("heavy")
class ResumedExportTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Random RANDOM = new Random(16);

    @AutoClose private static TestDatabase database;
    private static Database connections;
    private static PostgresEventStore one;
    private static PostgresEventStore two;

    @TempDir private Path directory;
    private Path state = Path.of("");
    private Path output = Path.of("");

    @BeforeAll
    static void open() {
        database = TestDatabase.migrated();
        connections = database.closing(new Database(database.login(Who.APP)));
        one = new PostgresEventStore(connections, "here/1");
        two = new PostgresEventStore(connections, "here/2");
        database.admin("INSERT INTO broker.tenant (name) VALUES ('acme'), ('other')");
    }

    @BeforeEach
    void files() {
        state = directory.resolve("state.json");
        output = directory.resolve("log.jsonl");
    }

    private AuditCommand auditor() throws Exception {
        return new AuditCommand(database, directory, Who.AUDITOR);
    }

    private Ran export(String... further) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("export", "--state", state.toString()));
        arguments.addAll(List.of(further));
        return auditor().run(arguments.toArray(String[]::new));
    }

    private void exportAll() throws Exception {
        Ran ran = export("--all", "--output", output.toString());
        assertEquals(0, ran.status(), ran.errors());
    }

    private String refused(String... further) throws Exception {
        Ran ran = export(further);
        assertEquals(1, ran.status(), ran.output());
        assertEquals(1, ran.errors().lines().count(), ran.errors());
        return ran.errors();
    }

    private static void someRows() {
        for (PostgresEventStore store : List.of(one, two)) {
            for (int i = RANDOM.nextInt(1, 4); i > 0; i--) {
                store.append(AuditRows.mint("some", "{\"n\":1.50}"));
            }
        }
    }

    /** Everything that is committed is in the lines once, and each chain in its order. */
    private static void assertWhole(List<String> lines) throws IOException {
        List<String> places = new ArrayList<>();
        Map<String, Long> last = new HashMap<>();
        for (String line : lines) {
            JsonNode row = JSON.readTree(line);
            String chain =
                    row.has("checkpoint")
                            ? "checkpoints"
                            : row.has("mint_id")
                                    ? row.path("chain").asText()
                                    : "changes of " + row.path("tenant").asText();
            long at =
                    row.path(
                                    row.has("checkpoint")
                                            ? "checkpoint"
                                            : row.has("mint_id") ? "seq" : "revision")
                            .asLong();
            assertEquals(last.merge(chain, 1L, Long::sum).longValue(), at, line);
            places.add(chain + " " + at);
        }
        assertEquals(
                database.column(
                        """
                        SELECT place FROM (
                            SELECT chain || ' ' || seq AS place FROM audit.event
                            UNION ALL
                            SELECT 'changes of ' || coalesce(tenant, 'null') || ' ' || revision
                              FROM audit.config_change
                            UNION ALL
                            SELECT 'checkpoints ' || number FROM audit.checkpoint) AS every
                         ORDER BY place COLLATE "C"
                        """),
                places.stream().sorted().toList());
    }

    private List<String> exported() throws IOException {
        return Files.readAllLines(output, StandardCharsets.UTF_8);
    }

    @Test
    void each_row_is_there_once_in_its_chains_order_whatever_came_between_the_runs()
            throws Exception {
        for (int round = 0; round < 5; round++) {
            someRows();
            database.admin(
                    "UPDATE broker.tenant SET display_name = '%d' WHERE name = 'acme'"
                            .formatted(RANDOM.nextInt()));
            Seals.seal(database);
            someRows();
            exportAll();
        }
        assertWhole(exported());
        String before = Files.readString(output);
        exportAll();
        assertEquals(before, Files.readString(output));
    }

    @Test
    void rows_are_as_the_table_has_them() throws Exception {
        one.append(AuditRows.mint("\u0001 \"\\\ud83d\ude00", "{\"n\":[1.50,1e3]}"));
        exportAll();
        assertEquals(
                database.column(
                        "SELECT to_jsonb(e) FROM (SELECT set_config('TimeZone', 'UTC', false)) AS"
                                + " zone, audit.event AS e ORDER BY e.hash"),
                exported().stream()
                        .filter(line -> line.contains("\"mint_id\""))
                        .sorted(Comparator.comparing(ResumedExportTest::hash))
                        .toList());
    }

    private static String hash(String line) {
        return line.replaceFirst(".*, \"hash\": \"([^\"]*)\".*", "$1");
    }

    @Test
    void an_outcome_that_comes_late_is_in_the_next_run() throws Exception {
        List<Event> mint = AuditRows.mintAt(Instant.now().minusSeconds(7_200), "late");
        one.append(mint.subList(0, 1));
        exportAll();
        one.append(mint.subList(1, 2));
        exportAll();
        assertEquals(2, exported().stream().filter(line -> line.contains("\"late\"")).count());
    }

    @Test
    void a_commit_that_is_held_back_is_in_the_next_run_and_holds_up_no_other_chain()
            throws Exception {
        try (Connection held = database.connect(Who.APP);
                Statement statement = held.createStatement()) {
            held.setAutoCommit(false);
            statement.execute(
                    """
                    INSERT INTO audit.event (mint_id, step, kind, occurred_at, reason, detail, broker,
                                             chain, seq, prev_hash, hash)
                    VALUES (overlay(audit.first_mint_id(now())::text PLACING '7' FROM 15)::uuid, 2,
                            'rejected', now(), 'overflow', '1', 'held', '1.held', 1,
                            sha256(''), sha256(''))
                    """);
            someRows();
            exportAll();
            assertTrue(exported().stream().noneMatch(line -> line.contains("1.held")));
            held.commit();
        }
        exportAll();
        assertWhole(exported());
        database.runAsSuperuser(
                """
                DO $$ BEGIN
                    EXECUTE format('ALTER TABLE log.%I DISABLE TRIGGER is_append_only',
                                   'event_' || to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM'));
                    ALTER TABLE log.event DISABLE TRIGGER is_append_only;
                    DELETE FROM audit.event WHERE chain = '1.held';
                END $$
                """);
    }

    @Test
    void wherever_the_file_was_torn_it_is_resumed_to_the_same_end() throws Exception {
        someRows();
        exportAll();
        Path stateBefore = Files.copy(state, directory.resolve("before"));
        long length = Files.size(output);
        for (int i = 0; i < 20; i++) {
            someRows();
        }
        Seals.seal(database);
        exportAll();
        byte[] whole = Files.readAllBytes(output);
        for (int i = 0; i < 12; i++) {
            Files.copy(stateBefore, state, StandardCopyOption.REPLACE_EXISTING);
            try (FileChannel file = FileChannel.open(output, StandardOpenOption.WRITE)) {
                file.truncate(RANDOM.nextLong(length, whole.length + 1));
            }
            Files.writeString(directory.resolve("state.json.next"), "{\"form\":");
            exportAll();
            assertEquals(whole.length, Files.size(output));
            assertWhole(exported());
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void killed_at_random_moments_while_it_follows_it_loses_nothing_and_writes_nothing_twice()
            throws Exception {
        String[] follow = {
            "export",
            "--state",
            state.toString(),
            "--output",
            output.toString(),
            "--all",
            "--follow"
        };
        for (int round = 0; round < 3; round++) {
            long before = Files.exists(output) ? Files.size(output) : 0;
            Process exporter = auditor().start("true", follow);
            someRows();
            Eventually.holds(() -> size() > before);
            for (int i = RANDOM.nextInt(1, 30); i > 0; i--) {
                someRows();
            }
            exporter.destroyForcibly().waitFor();
        }
        Seals.seal(database);
        exportAll();
        assertWhole(exported());
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void an_export_that_follows_holds_nobody_up_while_it_waits() throws Exception {
        someRows();
        Process exporter =
                auditor()
                        .start(
                                "true",
                                "export",
                                "--state",
                                state.toString(),
                                "--output",
                                output.toString(),
                                "--follow");
        try {
            Eventually.holds(() -> size() > 0);
            Eventually.holds(() ->
                    database.column(
                                    """
                                    SELECT state FROM pg_stat_activity
                                     WHERE datname = current_database()
                                       AND application_name = 'mintmark audit'
                                    """)
                            .equals(List.of("idle")));
        } finally {
            exporter.destroyForcibly().waitFor();
        }
    }

    private long size() {
        try {
            return Files.exists(output) ? Files.size(output) : 0;
        } catch (IOException e) {
            return 0;
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void a_disk_that_is_full_is_told_and_nothing_is_lost() throws Exception {
        someRows();
        Process exporter =
                auditor()
                        .start(
                                "ulimit -f 8",
                                "export",
                                "--state",
                                state.toString(),
                                "--output",
                                output.toString(),
                                "--all");
        assertTrue(exporter.waitFor(Eventually.SECONDS, TimeUnit.SECONDS));
        String said = Files.readString(directory.resolve("process.log"));
        assertEquals(1, exporter.exitValue(), said);
        assertTrue(said.contains("--output: the file is incomplete"), said);
        exportAll();
        assertWhole(exported());
    }

    @Test
    void on_standard_output_every_row_comes_at_least_once_and_a_run_that_counts_once()
            throws Exception {
        List<String> lines = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            someRows();
            Ran ran = export("--all");
            assertEquals(0, ran.status(), ran.errors());
            lines.addAll(ran.output().lines().toList());
        }
        assertWhole(lines);
    }

    @Test
    void another_output_goes_on_where_the_last_one_ended() throws Exception {
        exportAll();
        Path first = output;
        Files.writeString(first, "torn", StandardOpenOption.APPEND);
        someRows();
        output = directory.resolve("tomorrow.jsonl");
        exportAll();
        List<String> both = new ArrayList<>(Files.readAllLines(first));
        both.addAll(exported());
        assertWhole(both);
    }

    @Test
    void two_exports_can_not_share_a_state_or_an_output() throws Exception {
        try (FileChannel lock =
                FileChannel.open(
                        directory.resolve("state.json.lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE)) {
            assertTrue(lock.tryLock().isValid());
            assertTrue(refused("--output", output.toString()).contains("in use by another export"));
        }
        try (FileChannel lock =
                FileChannel.open(output, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            assertTrue(lock.tryLock().isValid());
            assertTrue(refused("--output", output.toString()).contains("in use by another export"));
        }
    }

    @Test
    void a_file_that_took_the_name_of_the_last_one_is_not_touched() throws Exception {
        someRows();
        exportAll();
        Files.move(output, directory.resolve("shipped"));
        String others = "x".repeat(1_000_000);
        Files.writeString(output, others);
        assertTrue(refused("--all", "--output", output.toString()).contains("no longer ends with"));
        assertEquals(others, Files.readString(output));
        Path next = directory.resolve("next");
        assertEquals(0, export("--all", "--output", next.toString()).status());
        assertEquals(others, Files.readString(output));
    }

    @Test
    void an_unfinished_part_is_cut_off_the_last_file_unless_somebody_writes_to_it()
            throws Exception {
        someRows();
        exportAll();
        byte[] whole = Files.readAllBytes(output);
        Files.writeString(output, "unfinished", StandardOpenOption.APPEND);
        try (FileChannel lock = FileChannel.open(output, StandardOpenOption.WRITE)) {
            assertTrue(lock.tryLock().isValid());
            assertEquals(0, export("--all", "--output", directory + "/second").status());
        }
        assertEquals(whole.length + 10, Files.size(output));

        someRows();
        output = directory.resolve("third");
        exportAll();
        whole = Files.readAllBytes(output);
        Files.writeString(output, "unfinished", StandardOpenOption.APPEND);
        assertEquals(0, export("--all", "--output", directory + "/fourth").status());
        assertArrayEquals(whole, Files.readAllBytes(output));
    }

    @Test
    void what_the_state_does_not_fit_is_refused_in_a_sentence() throws Exception {
        exportAll();
        assertTrue(refused("--output", output.toString()).contains("--format jsonl --all"));
        assertTrue(
                refused("--all", "--format", "ocsf", "--output", output.toString())
                        .contains("--format jsonl --all"));
        assertTrue(refused("--all").contains("pass that file, or start a new state file"));
        Path other = Files.writeString(directory.resolve("other"), "something");
        assertTrue(
                refused("--all", "--output", other.toString())
                        .contains("has content that no earlier run of this export wrote"));
        assertEquals("something", Files.readString(other));
        assertTrue(
                refused("--all", "--output", directory.toString())
                        .contains("is not a regular file"));
        Files.writeString(output, "short");
        assertTrue(refused("--all", "--output", output.toString()).contains("has 5 bytes"));
        assertEquals("short", Files.readString(output));
        Files.delete(output);
        assertTrue(refused("--all", "--output", output.toString()).contains("is missing"));
    }

    @Test
    void the_state_of_another_database_and_what_is_no_state_is_refused() throws Exception {
        exportAll();
        String known = Files.readString(state);
        Files.writeString(state, known.replaceFirst("\"origin\":\"..", "\"origin\":\"zz"));
        assertTrue(refused("--all", "--output", output.toString()).contains("another database"));
        for (String none : List.of("", "{", "{}", "[]", "{\"form\":\"1\",\"origin\":\"a\"}")) {
            Files.writeString(state, none);
            assertTrue(
                    refused("--all", "--output", output.toString())
                            .contains("is not the state file"),
                    none);
        }
        Files.writeString(state, known.replace("\"form\":1", "\"form\":2"));
        assertTrue(refused("--all", "--output", output.toString()).contains("has a format"));
    }

    @Test
    void a_log_that_was_restored_or_changed_behind_the_state_is_not_gone_on_with()
            throws Exception {
        someRows();
        Seals.seal(database);
        exportAll();
        someRows();
        String known = Files.readString(state);
        for (String chain : List.of("seq", "revision", "number")) {
            Files.writeString(
                    state, known.replaceAll("(\"" + chain + "\":[0-9]+,\"hash\":\")..", "$1zz"));
            assertTrue(
                    refused("--all", "--output", output.toString()).contains("is not in this log"),
                    chain);
        }
        Files.writeString(state, known.replaceAll("(\"revision\":)", "$19"));
        assertTrue(refused("--all", "--output", output.toString()).contains("is not in this log"));
    }

    @ParameterizedTest
    @CsvSource({
        "--follow, needs --state",
        "--all, needs --state",
        "--all --from 2026-01-01 --tenant acme, exports every row",
        "--all --from 2026-01-01 --format ocsf, supports only --format jsonl",
        "--state s --from 2026-01-01, leave out",
        "--state s --tenant acme, leave out",
        "--state s --all --format csv, contain changes and checkpoints",
        "--state s --output ./s, different files"
    })
    void options_that_exclude_each_other_are_refused(String arguments, String why)
            throws Exception {
        Ran ran = auditor().run(("export " + arguments).split(" "));
        assertEquals(1, ran.status());
        assertTrue(ran.errors().contains(why), ran.errors());
    }

    @Test
    void csv_has_its_header_once() throws Exception {
        someRows();
        String file = output.toString();
        assertEquals(0, export("--format", "csv", "--output", file).status());
        someRows();
        assertEquals(0, export("--format", "csv", "--output", file).status());
        List<String> lines = Files.readAllLines(output);
        assertEquals(1, lines.stream().filter(line -> line.startsWith("mint_id,")).count());
        assertEquals(
                database.column("SELECT count(*) + 1 FROM audit.event"),
                List.of(Integer.toString(lines.size())));
    }

    @Test
    void rows_outside_of_any_chain_are_told() throws Exception {
        database.run(
                Who.APP,
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, reason, detail, broker)
                VALUES (overlay(audit.first_mint_id(now() - interval '1 s')::text PLACING '7' FROM 15)::uuid,
                        2, 'rejected', now(), 'overflow', '1', 'x')
                """);
        Ran ran = export("--output", output.toString());
        assertNotEquals("", ran.errors());
        assertTrue(ran.errors().contains("1 rows of audit.event are in no chain"), ran.errors());
        database.runAsSuperuser(
                """
                DO $$ BEGIN
                    EXECUTE format('ALTER TABLE log.%I DISABLE TRIGGER is_append_only',
                                   'event_' || to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM'));
                    ALTER TABLE log.event DISABLE TRIGGER is_append_only;
                    DELETE FROM audit.event WHERE chain IS NULL;
                END $$
                """);
    }
}
