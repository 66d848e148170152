package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.mintmark.admin.cli.Commands;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The database is renamed away under running replicas, and an older copy is put in its place, as
 * whoever restores a dump does who forgot a replica. A grant that was revoked since is in force
 * again there.
 */
@Tag("heavy")
class RestoredUnderneathTest {
    private static final String REVOKE =
            "UPDATE broker.subject_grant SET enabled = false WHERE key = 'api'";

    @TempDir private Path directory;
    private World world;
    private TestDatabase older;

    @BeforeEach
    void mintAndKeepACopy() {
        world = new World();
        Eventually.holds(() -> mint() == 200);
        Eventually.holds(() -> !checkpoints().isEmpty());
        older = world.database().copyUnderneath();
    }

    @AfterEach
    void stop() {
        world.close();
        older.close();
    }

    private int mint() {
        return world.broker().mint(world.token(), "api").status();
    }

    private List<String> checkpoints() {
        return world.column("SELECT number FROM audit.checkpoint");
    }

    /** The copy has ended the broker's connections, so its first answer may be that it has none. */
    private void assertRevoked() {
        Eventually.holds(() -> {
            int status = mint();
            assertNotEquals(200, status);
            return status == 403;
        });
    }

    private void assertRefusedAgain() {
        Eventually.holds(Eventually.PATIENCE, () -> answer(), answer -> answer.startsWith("403 "));
    }

    private String answer() {
        HttpResponse<String> answer = world.broker().mint(world.token(), "api").response();
        return "%d %s".formatted(answer.statusCode(), answer.body());
    }

    private void restore() {
        world.database().replaceBy(older);
    }

    private void assertNothingIsMinted() {
        for (int i = 0; i < 15; i++) {
            assertNotEquals(200, mint());
        }
        Eventually.holds(() -> mint() == 503);
        Eventually.holds(() ->
                world.broker()
                        .get("/health")
                        .response()
                        .body()
                        .contains("mintmark audit acknowledge-loss"));
        assertEquals(503, world.broker().keys(world.token()).status());
    }

    @Test
    void a_replica_whose_rows_are_lost_mints_nothing_until_somebody_acknowledges()
            throws Exception {
        world.admin(REVOKE);
        assertRevoked();
        restore();
        assertNothingIsMinted();
        world.assertRows("SELECT count(*) FROM audit.event WHERE kind = 'issued'", "1");
        world.admin(REVOKE);
        assertEquals(1, run("audit", "acknowledge-loss", "--reason", "nobody answered"));
        acknowledge("restored, ticket 4711");
        assertRefusedAgain();
        assertEquals(200, world.broker().mint(world.token(), "deploy").status());
    }

    private boolean isReportedAgain() {
        return world.database()
                        .column("SELECT kind FROM runtime.lost_row WHERE acknowledged_by IS NULL")
                        .size()
                > 1;
    }

    /** The second restore loses what the first one's loss was reported in. */
    @Test
    void a_second_restore_before_the_acknowledgement_does_not_end_the_stop() throws Exception {
        world.admin(REVOKE);
        assertRevoked();
        try (TestDatabase oldest = older.copyUnderneath();
                RunningBroker further = RunningBroker.on(world.database(), Map.of())) {
            restore();
            assertNothingIsMinted();
            Eventually.holds(() -> further.mint(world.token(), "api").status() == 503);
            world.database().replaceBy(oldest);
            assertNothingIsMinted();
            for (int i = 0; i < 15; i++) {
                assertNotEquals(200, further.mint(world.token(), "api").status());
            }
            Eventually.holds(this::isReportedAgain);
            world.admin(REVOKE);
            acknowledge("restored twice");
            // The second replica may report the loss of its own row only now: both stop again.
            Path kept = kept();
            Eventually.holds(() -> {
                if (run("audit", "restored", "--checkpoints", kept.toString()) == 1) {
                    open("one more row is lost", kept, "acknowledge-loss");
                }
                return answer().startsWith("403 ");
            });
            assertEquals(200, world.broker().mint(world.token(), "deploy").status());
        }
    }

    /** It has written nothing since the copy, and has only seen that the grant was revoked. */
    @Test
    void a_replica_that_has_only_seen_the_lost_change_mints_nothing_either() {
        world.admin(REVOKE);
        Eventually.holds(
                () -> !world.broker().keys(world.token()).response().body().contains("\"api\""));
        restore();
        assertNothingIsMinted();
        world.assertRows(
                "SELECT DISTINCT kind FROM runtime.lost_row WHERE kind <> 'checkpoint'", "change");
    }

    @Test
    void a_replica_without_requests_becomes_unready_by_itself() {
        world.admin(REVOKE);
        assertRevoked();
        restore();
        Eventually.holds(() -> world.broker().get("/health").status() == 503);
        world.assertRows("SELECT count(*) FROM audit.event WHERE kind = 'issued'", "1");
    }

    @Test
    void a_loss_of_checkpoints_alone_is_noticed() {
        world.broker().stop();
        String last = world.value("SELECT max(number) FROM audit.checkpoint");
        older.close();
        older = world.database().copyUnderneath();
        try (RunningBroker seals = RunningBroker.on(world.database(), Map.of())) {
            Eventually.holds(
                    () -> !world.value("SELECT max(number) FROM audit.checkpoint").equals(last));
            restore();
            Eventually.holds(() ->
                    seals.mint(world.token(), "api").status() == 503
                            && world.column("SELECT kind FROM runtime.lost_row")
                                    .equals(List.of("checkpoint")));
        }
    }

    @Test
    void the_log_verifies_after_the_gap_was_declared() throws Exception {
        world.admin(REVOKE);
        assertRevoked();
        sealed(world);
        Path kept = kept();
        restore();
        assertNothingIsMinted();
        world.admin(REVOKE);
        assertEquals(1, verify(kept), "rows are missing that were sealed");
        open("restored, ticket 4711", kept, "declare-gap", "--checkpoints", kept.toString());
        assertRefusedAgain();
        String hash = newestCheckpoint().hash();
        assertEquals(3, verify(kept));
        assertEquals(0, verify(kept, "--accept-gap", hash));
        assertEquals(200, world.broker().mint(world.token(), "deploy").status());
        sealed(world);
        assertEquals(0, verify(kept, "--accept-gap", hash));
    }

    private void acknowledge(String reason) throws Exception {
        open(reason, kept(), "acknowledge-loss");
    }

    /**
     * A replica may report a loss meanwhile, and then the code is another one. There is none if no
     * change of the configuration is lost.
     */
    private void open(String reason, Path kept, String... command) {
        List<String> arguments = new ArrayList<>(List.of("audit"));
        arguments.addAll(List.of(command));
        Eventually.holds(() -> {
            List<String> answered = new ArrayList<>(arguments);
            answered.addAll(List.of("--reason", reason));
            code(kept).ifPresent(code -> answered.addAll(List.of("--answered", code)));
            return run(answered.toArray(String[]::new)) == 0;
        });
    }

    private Optional<String> code(Path kept) {
        PrintStream before = System.out;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            assertEquals(1, run("audit", "restored", "--checkpoints", kept.toString()));
            String said = out.toString(StandardCharsets.UTF_8);
            return said.contains("--answered")
                    ? Optional.of(AuditCommand.answered(said))
                    : Optional.empty();
        } finally {
            System.setOut(before);
        }
    }

    /** A stop seals, and so does a start. */
    private static void sealed(World world) {
        String rows = world.value("SELECT count(*) FROM audit.event");
        try (RunningBroker _ = RunningBroker.on(world.database(), Map.of())) {
            Eventually.holds(() ->
                    world.value(
                                    """
                                    SELECT count(*) FROM audit.event AS e
                                      JOIN runtime.sealed_chain AS s
                                        ON s.kind = 'event' AND s.chain = e.chain
                                       AND s.position >= e.seq
                                    """)
                            .equals(rows));
        }
    }

    private SignedCheckpoint newestCheckpoint() {
        return allCheckpoints().getLast();
    }

    private List<SignedCheckpoint> allCheckpoints() {
        return world
                .column(
                        "SELECT json_build_object('checkpoint', number, 'sealed_at', sealed_at, 'jws', jws)"
                                + " FROM audit.checkpoint ORDER BY number")
                .stream()
                .flatMap(line -> SignedCheckpoint.in(line).stream())
                .toList();
    }

    private Path kept() throws Exception {
        return Files.write(
                directory.resolve("kept.jsonl"),
                allCheckpoints().stream().map(SignedCheckpoint::line).toList());
    }

    private int verify(Path kept, String... further) {
        List<String> arguments =
                new ArrayList<>(List.of("audit", "verify", "--checkpoints", kept.toString()));
        arguments.addAll(List.of(further));
        return run(Who.AUDITOR, arguments.toArray(String[]::new));
    }

    private int run(String... command) {
        return run(Who.APP, command);
    }

    private int run(Who who, String... command) {
        Map<String, String> environment =
                new HashMap<>(
                        RunningBroker.environment(world.database(), RunningBroker.freePort()));
        environment.put("DATABASE_USERNAME", who.login());
        return new Commands(environment, directory).execute(command);
    }
}
