package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A restore that lost a revocation, with all replicas stopped: none that starts too early remembers
 * what was lost.
 */
class RestoredTest {
    private static final String REVOKE =
            "UPDATE broker.subject_grant SET enabled = false WHERE key = 'api'";

    @TempDir private Path directory;
    private World world;
    private TestDatabase older;
    private Path kept;

    private record Ran(int status, String output) {}

    @BeforeEach
    void restoreToBeforeARevocation() throws Exception {
        world = new World();
        Eventually.holds(() -> world.broker().mint(world.token(), "api").status() == 200);
        Eventually.holds(() -> !checkpoints().isEmpty());
        older = world.database().copyUnderneath();
        world.admin(REVOKE);
        Eventually.holds(() -> world.broker().mint(world.token(), "api").status() == 403);
        world.broker().stop();
        kept =
                Files.write(
                        directory.resolve("kept.jsonl"),
                        checkpoints().stream().map(SignedCheckpoint::line).toList());
        world.database().replaceBy(older);
    }

    @AfterEach
    void stop() {
        world.close();
        older.close();
    }

    private List<SignedCheckpoint> checkpoints() {
        return world
                .column(
                        "SELECT json_build_object('checkpoint', number, 'sealed_at', sealed_at, 'jws', jws)"
                                + " FROM audit.checkpoint ORDER BY number")
                .stream()
                .flatMap(line -> SignedCheckpoint.in(line).stream())
                .toList();
    }

    private Ran run(String... command) {
        Map<String, String> environment =
                new HashMap<>(
                        RunningBroker.environment(world.database(), RunningBroker.freePort()));
        PrintStream before = System.out;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            int status = new Commands(environment, directory).execute(command);
            return new Ran(status, out.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(before);
        }
    }

    private Ran restored(String... further) {
        List<String> arguments =
                new ArrayList<>(List.of("audit", "restored", "--checkpoints", kept.toString()));
        arguments.addAll(List.of(further));
        return run(arguments.toArray(String[]::new));
    }

    private Ran declare(String... answer) {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "audit",
                                "declare-gap",
                                "--checkpoints",
                                kept.toString(),
                                "--reason",
                                "restored, ticket 4711"));
        arguments.addAll(List.of(answer));
        return run(arguments.toArray(String[]::new));
    }

    /** Grants are named by their ids in the log, in answers and in notices. */
    @Test
    void no_row_gets_the_id_of_a_lost_row() {
        String highest = "SELECT max(id) FROM broker.%s";
        String grant =
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'ci:new', 'spare')";
        String block =
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'ci:new', 'INC-1')";
        world.admin(block);
        long before = Long.parseLong(world.value(highest.formatted("blocked_subject")));
        restored();
        world.admin(grant);
        world.admin(block.replace("ci:new", "ci:newer"));

        for (String table : List.of("subject_grant", "blocked_subject")) {
            long id = Long.parseLong(world.value(highest.formatted(table)));
            assertTrue(id > before + 1_000_000 && id < 1_000_000_000_000L, table + " " + id);
        }

        restored();
        world.admin(grant.replace("ci:new", "ci:newest"));
        assertEquals(
                "t",
                world.value(
                        "SELECT max(id) > 1000000 + (SELECT id FROM broker.subject_grant WHERE subject = 'ci:new') FROM broker.subject_grant"));
    }

    /** Another cell's ids begin at the next multiple of 10^12. */
    @Test
    void ids_stay_within_the_range_of_their_cell() {
        world.database()
                .run(
                        Who.OWNER,
                        "SELECT setval(pg_get_serial_sequence('broker.subject_grant', 'id'), 2000000000007)");
        restored();
        world.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'ci:new', 'spare')");
        long id =
                Long.parseLong(
                        world.value(
                                "SELECT id FROM broker.subject_grant WHERE subject = 'ci:new'"));
        assertTrue(id > 2_000_001_000_000L && id < 3_000_000_000_000L, () -> "id " + id);
    }

    /** The lines of the database that is gone. */
    private Path export() throws IOException {
        return Files.write(
                directory.resolve("log.jsonl"),
                older.column("SELECT to_jsonb(c) FROM audit.config_change AS c"));
    }

    /** The lost revocation is of after the last of them. */
    private void keepOnlyCheckpointsThatAreNotLost() throws IOException {
        Files.write(kept, checkpoints().stream().map(SignedCheckpoint::line).toList());
    }

    private Ran acknowledge(String... answer) {
        List<String> arguments =
                new ArrayList<>(
                        List.of("audit", "acknowledge-loss", "--reason", "restored, ticket 4711"));
        arguments.addAll(List.of(answer));
        return run(arguments.toArray(String[]::new));
    }

    @Test
    void a_lost_revocation_that_only_the_export_has_stops_replicas_until_it_is_answered_for()
            throws Exception {
        keepOnlyCheckpointsThatAreNotLost();
        Path export = export();
        Ran stopped = restored("--export", export.toString());

        assertEquals(1, stopped.status(), stopped.output());
        // the server's roles are those of other tests too, and a sealer records them when it sees
        // them
        List<String> lines =
                stopped.output().lines().filter(line -> !line.contains("role_member")).toList();
        assertEquals(3, lines.size(), stopped.output());
        assertTrue(lines.get(0).endsWith("run mintmark audit acknowledge-loss."), lines.get(0));
        assertTrue(
                lines.get(1).startsWith("Lost, so make this change again: UPDATE"), lines.get(1));
        assertTrue(lines.get(2).contains("acknowledge-loss --answered "), lines.get(2));
        try (RunningBroker early = RunningBroker.on(world.database(), Map.of())) {
            assertEquals(503, early.mint(world.token(), "api").status());
            assertEquals(1, acknowledge().status(), "nobody has answered for the revocation");
            world.admin(REVOKE);
            assertEquals(503, early.mint(world.token(), "api").status());
            assertEquals(
                    0, acknowledge("--answered", AuditCommand.answered(stopped.output())).status());
            Eventually.holds(() -> early.mint(world.token(), "api").status() == 403);
        }
        Ran again = restored("--export", export.toString());
        assertEquals(0, again.status(), "acknowledged: " + again.output());
    }

    @Test
    void without_the_export_the_command_says_that_unsealed_changes_may_be_lost() throws Exception {
        keepOnlyCheckpointsThatAreNotLost();
        Ran nothing = restored();
        assertEquals(0, nothing.status(), nothing.output());
        assertTrue(
                nothing.output().contains("Changes that no kept checkpoint seals may be lost"),
                nothing.output());
    }

    @Test
    void only_the_last_line_of_an_export_may_be_incomplete() throws Exception {
        keepOnlyCheckpointsThatAreNotLost();
        Path export = export();
        String half = "{\"table_name\":\"subject_gr";
        Files.writeString(export, half, StandardOpenOption.APPEND);
        Ran stopped = restored("--export", export.toString());
        assertEquals(1, stopped.status(), stopped.output());
        assertTrue(
                stopped.output().startsWith("The last line of the export is incomplete"),
                stopped.output());
        assertTrue(stopped.output().contains("Lost, so make this change again"), stopped.output());

        Files.writeString(export, half + "\n{}\n");
        assertEquals(1, restored("--export", export.toString()).status());
    }

    /** The export knows what the change was. */
    @Test
    void with_an_export_a_lost_revocation_is_named() throws Exception {
        Path export = export();
        Ran stopped = restored("--export", export.toString());
        assertEquals(1, stopped.status(), stopped.output());
        List<String> undone =
                stopped.output().lines().filter(line -> line.startsWith("Lost, so")).toList();
        assertEquals(1, undone.size(), stopped.output());
        assertTrue(
                undone.getFirst()
                        .matches(
                                "Lost, so make this change again: UPDATE of subject_grant \\(id \\d+, subject ci:main, key api\\), revision \\d+ of tenant acme, by test_admin"),
                undone.getFirst());
    }

    @Test
    void replicas_mint_nothing_until_the_gap_is_declared_and_what_was_lost_is_named() {
        Ran stopped = restored();
        assertEquals(1, stopped.status(), stopped.output());
        assertTrue(
                stopped.output().contains("Lost: changes of tenant acme, revisions "),
                stopped.output());
        try (RunningBroker early = RunningBroker.on(world.database(), Map.of())) {
            assertEquals(503, early.mint(world.token(), "api").status());
            assertEquals(503, early.get("/health").status());

            assertEquals(1, declare().status(), "nobody has answered for the revocation");
            assertEquals(1, declare("--answered", "0123456789ab").status());
            assertEquals(503, early.mint(world.token(), "api").status());
            world.admin(REVOKE);
            assertEquals(503, early.mint(world.token(), "api").status());
            assertEquals(
                    0, declare("--answered", AuditCommand.answered(stopped.output())).status());

            Eventually.holds(() -> early.mint(world.token(), "api").status() == 403);
            Eventually.holds(() -> early.get("/health").status() == 200);
        }
    }

    /** What the command is for. */
    @Test
    void a_replica_that_starts_without_the_command_mints_on_the_revoked_grant() {
        try (RunningBroker early = RunningBroker.on(world.database(), Map.of())) {
            assertEquals(200, early.mint(world.token(), "api").status());
        }
    }

    @Test
    void a_database_that_lost_nothing_stops_nobody() throws Exception {
        keepOnlyCheckpointsThatAreNotLost();
        Path export =
                Files.write(
                        directory.resolve("log.jsonl"),
                        world.column("SELECT to_jsonb(c) FROM audit.config_change AS c"));

        Ran nothing = restored("--export", export.toString());

        assertEquals(0, nothing.status(), nothing.output());
        world.assertRows("SELECT kind FROM runtime.lost_row");
    }
}
