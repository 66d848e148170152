package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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

    /** The export knows what the change was. */
    @Test
    void with_an_export_a_lost_revocation_is_named() throws Exception {
        Path export =
                Files.write(
                        directory.resolve("log.jsonl"),
                        older.column("SELECT to_jsonb(c) FROM audit.config_change AS c"));
        Ran stopped = restored("--export", export.toString());
        assertEquals(1, stopped.status(), stopped.output());
        List<String> undone =
                stopped.output().lines().filter(line -> line.startsWith("Undone")).toList();
        assertEquals(1, undone.size(), stopped.output());
        assertTrue(
                undone.getFirst()
                        .matches(
                                "Undone, so repeat it: UPDATE of subject_grant \\(id \\d+, subject ci:main, key api\\),"
                                        + " revision \\d+ of tenant acme, by test_admin"),
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
        Files.write(kept, checkpoints().stream().map(SignedCheckpoint::line).toList());

        Ran nothing = restored();

        assertEquals(0, nothing.status(), nothing.output());
        world.assertRows("SELECT kind FROM runtime.lost_row");
    }
}
