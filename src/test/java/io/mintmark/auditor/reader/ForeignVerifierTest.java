package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.audit.checkpoint.CheckpointLines;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/** docs/verify.py, which shares no code with the broker, comes to the same result. */
@Tag("heavy")
public class ForeignVerifierTest {
    @TempDir private Path directory;

    @Test
    void a_script_that_knows_only_the_documentation_agrees() throws Exception {
        Script.assumeItRuns();
        try (TestDatabase database = TestDatabase.migrated();
                Database connections = new Database(database.login(Who.APP))) {
            GrantedMints granted = new GrantedMints(database);
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            store.append(
                    granted.of(
                            AuditRows.mint(
                                    "odd:\\ \t\n\u0001é\ud83d\ude00 \\N",
                                    "{\"a\":[1.50,\"\\\\\"]}")));
            store.append(
                    granted.of(AuditRows.mint("v4", "{}", "10.0.0.1", java.time.Instant.now())));
            database.admin("INSERT INTO broker.tenant (name) VALUES ('other')");
            SignedCheckpoint kept = Seals.seal(database);
            store.append(granted.of(AuditRows.mint("three", "{}")));
            Seals.seal(database);
            assertEquals("", lines(verify(directory, database, kept)));

            database.runAsSuperuser("ALTER TABLE log.checkpoint DISABLE TRIGGER is_append_only");
            database.runAsSuperuser(
                    "UPDATE audit.checkpoint SET jws = left(jws, -86) || repeat('A', 86) WHERE"
                            + " number = 2");
            database.runAsSuperuser(
                    "DO $$ BEGIN EXECUTE format('ALTER TABLE log.%I DISABLE TRIGGER"
                            + " is_append_only', 'event_' || to_char(now() AT TIME ZONE 'UTC',"
                            + " 'YYYY_MM')); END $$;"
                            + "ALTER TABLE log.event DISABLE TRIGGER is_append_only;"
                            + "UPDATE audit.event SET user_agent = 'other'"
                            + " WHERE subject = 'v4' AND step = 2");
            String wrong = lines(verify(directory, database, kept));
            assertTrue(wrong.contains("checkpoint 2 is not signed"), wrong);
            assertTrue(wrong.contains("was changed"), wrong);
            assertEquals(2, wrong.lines().count(), wrong);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    DELETE FROM audit.event WHERE subject = 'one' AND step = 2 | is in the place of row 2
                    DELETE FROM audit.event WHERE subject = 'two'              | was sealed, but is missing
                    DELETE FROM audit.event                                    | was sealed, but is missing
                    UPDATE audit.event SET seq = 3 - seq WHERE subject = 'one' | doesn't follow
                    UPDATE audit.event SET hash = sha256(hash) WHERE seq = 4   | was changed
                    UPDATE audit.event SET client_address = '10.0.0.1/8'       | was changed
                    DELETE FROM audit.checkpoint WHERE number = 1              | checkpoint 1 is missing
                    DELETE FROM audit.checkpoint WHERE number = 2              | isn't in the database
                    UPDATE audit.config_change SET changed_by = 'x'            | was changed
                    DELETE FROM audit.checkpoint                               | nothing is proven
                    UPDATE audit.checkpoint SET sealed_at = now()              | but its row has another time
                    """)
    void what_was_tampered_with_is_found(String attack, String finding) throws Exception {
        Script.assumeItRuns();
        try (TestDatabase database = TestDatabase.migrated();
                Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            store.append(AuditRows.mint("one", "{}"));
            Seals.seal(database);
            store.append(AuditRows.mint("two", "{}"));
            SignedCheckpoint kept = Seals.seal(database);
            // past the triggers, as only a superuser gets
            database.runAsSuperuser(
                    """
                    DO $$
                    DECLARE
                        armed regclass;
                    BEGIN
                        FOR armed IN SELECT tgrelid FROM pg_trigger WHERE tgname = 'is_append_only' LOOP
                            EXECUTE format('ALTER TABLE %s DISABLE TRIGGER is_append_only', armed);
                        END LOOP;
                    END $$
                    """);
            database.runAsSuperuser(attack);
            String wrong = lines(verify(directory, database, kept));
            assertTrue(wrong.contains(finding), wrong);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\"checkpoint\" is a word\n", "{\"checkpoint\":"})
    void kept_checkpoints_that_are_none_are_no_proof(String kept) throws Exception {
        Script.assumeItRuns();
        try (TestDatabase database = TestDatabase.migrated()) {
            Seals.seal(database);
            String wrong = lines(verify(directory, database, kept));
            assertTrue(wrong.contains("holds no checkpoint"), wrong);
        }
    }

    @Test
    void files_that_are_not_there_are_told_in_a_line() throws Exception {
        assumeTrue(Script.isThere("python3"));
        Path keys = Files.writeString(directory.resolve("some.pem"), "none");

        for (List<String> files : List.of(List.of("none.pem"), List.of(keys + "", "none.jsonl"))) {
            List<String> command = new ArrayList<>(List.of("python3", "docs/verify.py"));
            command.addAll(files);
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            String output =
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertEquals(1, process.waitFor());
            String why = " can't be read (No such file or directory), so nothing is proven\n";
            assertEquals(files.getLast() + why, output);
        }
    }

    public static String lines(List<String> output) {
        return output.stream()
                .filter(line -> line.startsWith("WRONG"))
                .collect(Collectors.joining("\n"));
    }

    @Test
    void a_checkpoint_of_many_tenants_that_was_kept_in_pieces_is_joined() throws Exception {
        Script.assumeItRuns();
        try (TestDatabase database = TestDatabase.migrated()) {
            database.admin(
                    "INSERT INTO broker.tenant (name) SELECT 'tenant-' || n FROM generate_series(1, 700) AS n");
            SignedCheckpoint kept = Seals.seal(database);
            List<String> pieces = new ArrayList<>(CheckpointLines.of(kept));
            assertTrue(pieces.size() > 1, "has one piece");
            Collections.reverse(pieces);
            assertEquals("", lines(verify(directory, database, String.join("\n", pieces) + "\n")));
            pieces.removeFirst();
            String wrong = lines(verify(directory, database, String.join("\n", pieces) + "\n"));
            assertTrue(wrong.contains("holds no checkpoint"), wrong);
        }
    }

    public static List<String> verify(Path directory, TestDatabase database, SignedCheckpoint kept)
            throws Exception {
        return verify(
                directory,
                database,
                "some other line\n" + String.join("\n", CheckpointLines.of(kept)) + "\n");
    }

    private static List<String> verify(Path directory, TestDatabase database, String kept)
            throws Exception {
        Path lines = Files.writeString(directory.resolve("kept.jsonl"), kept);
        Script script = new Script(directory, database);
        int status = script.status(List.of(lines.toString()));
        List<String> output = script.output().lines().toList();
        assertEquals(
                output.stream().anyMatch(line -> line.startsWith("WRONG")) ? 1 : 0,
                status,
                script::output);
        return output;
    }
}
