package io.mintmark.auditor.reader;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.How;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * A month that was exported with what proves it is verified by itself, by the command and by the
 * script, and what is altered in it is found.
 */
@Tag("heavy")
class PartOfLogTest {
    private static final Instant FEBRUARY = Instant.parse("2026-02-01T00:00:00Z");
    private static final Instant MARCH = Instant.parse("2026-03-01T00:00:00Z");

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = database.closing(new Database(database.login(Who.APP)));
    private final PostgresEventStore one = new PostgresEventStore(connections, "one");
    private final PostgresEventStore two = new PostgresEventStore(connections, "two");
    private Path part = Path.of("part.jsonl");

    @BeforeEach
    void write() throws Exception {
        part = directory.resolve("part.jsonl");
        GrantedMints granted = new GrantedMints(database);
        List<Event> january = granted.of(AuditRows.mint("january", "{}"));
        one.append(january);
        Seals.sealAt(database, FEBRUARY.minusSeconds(600));
        database.admin("UPDATE broker.tenant SET display_name = 'A' WHERE name = 'acme'");
        Seals.sealAt(database, FEBRUARY.minusSeconds(60));
        one.append(granted.of(AuditRows.mint("february", "{}")));
        two.append(granted.of(AuditRows.mint("late in february", "{}")));
        Seals.sealAt(database, FEBRUARY.plusSeconds(86_400));
        one.append(List.of(AuditRows.denied("stranger")));
        two.append(List.of(AuditRows.ended(january, How.OVER)));
        Seals.sealAt(database, MARCH.plusSeconds(30));
        Seals.sealAt(database, MARCH.plusSeconds(3_700));
        one.append(granted.of(AuditRows.mint("march", "{}")));
        Seals.sealAt(database, MARCH.plusSeconds(86_400));
    }

    private Ran audit(String... arguments) throws Exception {
        return new AuditCommand(database, directory, Who.AUDITOR).run(arguments);
    }

    private Ran export(String... times) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("export", "--all", "--output", part + ""));
        arguments.addAll(List.of(times));
        return audit(arguments.toArray(String[]::new));
    }

    private void exportFebruary() throws Exception {
        Ran ran = export("--from", "2026-02-01", "--to", "2026-03-01");
        assertEquals(0, ran.status(), ran.errors());
        assertEquals("", ran.errors());
    }

    @Test
    void a_month_verifies_by_itself() throws Exception {
        exportFebruary();

        List<String> lines = Files.readAllLines(part);
        assertEquals("{\"part\":{\"after\":2,\"up_to\":5}}", lines.getFirst());
        assertEquals(6, lines.stream().filter(line -> line.contains("\"mint_id\"")).count());
        assertLacks(lines.toString(), "\"january\", \"claims\"");
        Ran verified = audit("verify", "--export", part.toString());
        assertEquals(0, verified.status(), verified.output());
        assertShows(
                verified.output(),
                "This is a part of a log: the rows that were sealed after"
                        + " checkpoint 2 of 2026-01-31T23:59:00Z and up to checkpoint 5"
                        + " of 2026-03-01T01:01:40Z.",
                "Nothing in this part was changed, and nothing in it is missing.");
        Script script = new Script(directory, null);
        assertEquals(0, script.status(List.of("--export", part.toString())), script::output);
    }

    @Test
    void checkpoints_that_were_kept_prove_a_part_as_well() throws Exception {
        exportFebruary();
        Path kept = keptCheckpoints();

        Ran verified =
                audit("verify", "--export", part.toString(), "--checkpoints", kept.toString());
        assertEquals(0, verified.status(), verified.output());
        Script script = new Script(directory, null);
        assertEquals(
                0,
                script.status(List.of(kept.toString(), "--export", part.toString())),
                script::output);
    }

    /** Lines are found by a text that only they have; the answer is what the command says of it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    "kind": "issued"     | WRONG: Chain
                    "kind": "denied"     | WRONG: Chain
                    "table_name": "key"  | ungranted_mint
                    "checkpoint":3       | Checkpoint 3 is missing
                    "checkpoint":2       | Checkpoint 2 is missing
                    "checkpoint":5       | Checkpoint 5 is missing
                    "checkpoint":1       | Chain
                    {"part":             | lacks rows
                    """)
    void a_line_that_is_left_out_is_missed(String text, String finding) throws Exception {
        exportFebruary();
        removeLine(text);

        Ran verified = audit("verify", "--export", part.toString());
        assertEquals(1, verified.status(), verified.output());
        assertShows(verified.output(), finding);
        Script script = new Script(directory, null);
        assertEquals(1, script.status(List.of("--export", part.toString())), script::output);
    }

    @Test
    void a_part_names_an_ungranted_mint_that_rests_on_changes_from_before_it() throws Exception {
        two.append(AuditRows.mint("nobody granted this", "{}"));
        Seals.sealAt(database, MARCH.plusSeconds(90_000));
        Ran ran = export("--from", "2026-03-02");
        assertEquals(0, ran.status(), ran.errors());

        Ran verified = audit("verify", "--export", part.toString());
        assertEquals(1, verified.status(), verified.output());
        assertShows(verified.output(), "WRONG: ungranted_mint ");
        Script script = new Script(directory, null);
        assertEquals(1, script.status(List.of("--export", part.toString())), script::output);
        assertTrue(script.output().contains("ungranted_mint "), script::output);
    }

    @Test
    void a_part_names_a_mint_on_a_state_that_was_outdated_before_it() throws Exception {
        List<Event> outdated =
                new GrantedMints(database).of(AuditRows.mint("on an outdated state", "{}"));
        database.admin("UPDATE broker.tenant SET display_name = 'B' WHERE name = 'acme'");
        Seals.sealAt(database, MARCH.plusSeconds(90_000));
        one.append(List.of(AuditRows.denied("between")));
        two.append(List.of(AuditRows.denied("between")));
        Seals.sealAt(database, MARCH.plusSeconds(91_000));
        one.append(outdated);
        Seals.sealAt(database, MARCH.plusSeconds(100_000));
        database.admin("UPDATE broker.tenant SET display_name = 'C' WHERE name = 'acme'");
        Seals.sealAt(database, MARCH.plusSeconds(101_000));
        Ran ran = export("--from", "2026-03-02T02:00:00Z");
        assertEquals(0, ran.status(), ran.errors());
        assertTrue(Files.readString(part).startsWith("{\"part\":{\"after\":8,"));

        assertOutdated(List.of("--export", part.toString()), List.of("--export", part.toString()));

        removeLine("\"checkpoint\":7");
        Path kept = keptCheckpoints();
        assertOutdated(
                List.of("--export", part.toString(), "--checkpoints", kept.toString()),
                List.of(kept.toString(), "--export", part.toString()));
    }

    private void assertOutdated(List<String> command, List<String> script) throws Exception {
        String finding = "although checkpoint 7 had already sealed a later revision";
        List<String> arguments = new ArrayList<>(List.of("verify"));
        arguments.addAll(command);
        Ran verified = audit(arguments.toArray(String[]::new));
        assertEquals(1, verified.status(), verified.output());
        assertShows(verified.output(), finding);
        Script ran = new Script(directory, null);
        assertEquals(1, ran.status(script), ran::output);
        assertTrue(ran.output().contains(finding), ran::output);
    }

    private void removeLine(String text) throws Exception {
        List<String> lines = new ArrayList<>(Files.readAllLines(part));
        int last = lines.size() - 1;
        while (!lines.get(last).contains(text)) {
            last--;
        }
        lines.remove(last);
        Files.write(part, lines);
    }

    private Path keptCheckpoints() throws Exception {
        return Files.write(
                directory.resolve("kept.jsonl"),
                database.column(
                        "SELECT json_build_object('checkpoint', number, 'sealed_at',"
                                + " to_char(sealed_at AT TIME ZONE 'UTC',"
                                + " 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), 'jws', jws) FROM"
                                + " audit.checkpoint ORDER BY number"));
    }

    @Test
    void a_time_without_a_checkpoint_is_not_exported_with_proof() throws Exception {
        Ran ran = export("--from", "2026-04-01");

        assertEquals(1, ran.status());
        assertShows(ran.errors(), "no checkpoint has been sealed since then");
    }

    @Test
    void an_export_without_checkpoints_says_how_to_write_one_with_them() throws Exception {
        assertEquals(0, audit("export", "--output", part.toString()).status());

        Ran verified = audit("verify", "--export", part.toString());
        assertEquals(1, verified.status());
        assertShows(
                verified.output(),
                "The export has no checkpoint, so nothing is proven; write it with" + " --all");
    }
}
