package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.provider.postgresql.TargetServer;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Type {@code postgresql} through a whole broker: logins to a real server, until they are gone. */
@Tag("heavy")
@Execution(ExecutionMode.CONCURRENT)
class PostgresMintsTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** Replicas note a new access provider each minute only. */
    private static final String SWEEP =
            """
            INSERT INTO runtime.sweep (tenant, provider, next_sweep) VALUES ('acme', 'db', now())
                ON CONFLICT (tenant, provider) DO UPDATE SET next_sweep = now()
            """;

    @TempDir private Path directory;
    @AutoClose private TargetServer target;
    @AutoClose private CutWire wire;
    @AutoClose private World world;

    @BeforeEach
    void start() throws Exception {
        target = TargetServer.start(TargetServer.NEWEST, Map.of(), TargetServer.HBA);
        wire = new CutWire(target.port());
        Path password = directory.resolve("secrets").resolve("acme").resolve("password");
        Files.createDirectories(password.getParent());
        Files.writeString(password, TargetServer.BROKER_PASSWORD);
        world = new World(Map.of("SECRETS_DIR", directory.resolve("secrets").toString()));
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'db', 'postgresql',
                        '{"host": "127.0.0.1:%d", "database": "postgres", "login": "mintmark", "password": {"file": "password"}}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'orders', 'db', 600, '{"role": "app_rw"}'),
                       ('acme', 'nowhere', 'db', 600, '{"role": "nobody"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', '%s', name FROM broker.key WHERE provider = 'db';
                """
                        .formatted(wire.port(), World.SUBJECT));
        Eventually.holds(() ->
                world.broker()
                        .keys(world.token())
                        .body()
                        .path("keys")
                        .toString()
                        .contains("orders"));
    }

    private Answer minted() {
        Answer answer = world.broker().mint(world.token(), "orders");
        assertEquals(200, answer.status(), answer.toString());
        return answer;
    }

    /** Mints a login, and logs in as a client would, on its own way to the server. */
    private Connection mintedSession() throws SQLException {
        Answer answer = minted();
        Connection session =
                DriverManager.getConnection(
                        "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(target.port()),
                        answer.at("/credentials/orders/PGUSER"),
                        answer.at("/credentials/orders/PGPASSWORD"));
        assertTrue(works(session));
        return session;
    }

    private static boolean works(Connection session) {
        try (var statement = session.createStatement();
                var rows = statement.executeQuery("SELECT id FROM public.orders")) {
            return rows.next();
        } catch (SQLException e) {
            return false;
        }
    }

    private List<String> roles() {
        return target.column("SELECT rolname FROM pg_roles WHERE starts_with(rolname, 'mm_')");
    }

    private void timePasses() {
        world.database()
                .runAsSuperuser(
                        "UPDATE runtime.ending SET due = now(), next_try = now(); " + SWEEP);
    }

    private List<String> ended() {
        return world.column(
                "SELECT concat_ws(' ', key, outcome, ended_how, ended_detail) FROM audit.mint WHERE"
                        + " ended_how IS NOT NULL ORDER BY ended_at");
    }

    private List<String> open() {
        return world.column(
                "SELECT concat_ws(' ', key, last_reason, last_detail) FROM runtime.ending WHERE"
                        + " tries > 0");
    }

    /**
     * By the broker's own command, and by the script that shares no code with it. A broker that
     * stops seals all rows.
     */
    private void assertLogVerifies() throws Exception {
        world.broker().stop();
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(world.database(), 1));
        environment.put("DATABASE_USERNAME", Who.AUDITOR.login());
        Commands commands = new Commands(environment, directory);
        Path export = directory.resolve("log.jsonl");
        Path keys = directory.resolve("trusted.pem");
        assertEquals(0, commands.execute("audit", "verify"));
        String state = directory.resolve("state").toString();
        assertEquals(
                0,
                commands.execute(
                        "audit", "export", "--all", "--state", state, "--output", export + ""));
        assertTrue(Files.readString(export).contains("\"ended\""));
        Script script = new Script(directory, null);
        assertEquals(
                0,
                new ProcessBuilder(
                                "openssl",
                                "pkey",
                                "-pubout",
                                "-in",
                                String.valueOf(environment.get("AUDIT_SIGNING_KEY_FILE")),
                                "-out",
                                keys.toString())
                        .start()
                        .waitFor());
        assertEquals(
                0, script.status(keys, List.of("--export", export.toString())), script::output);
        assertTrue(script.output().contains(" 0 of them not sealed yet"), script.output());
    }

    @Test
    void a_login_ends_with_its_sessions_and_the_log_proves_it() throws Exception {
        try (Connection session = mintedSession()) {
            String role = roles().getFirst();

            timePasses();
            Eventually.holds(() -> !ended().isEmpty());

            assertFalse(works(session), "the session is over");
            assertEquals(List.of(), roles());
            assertEquals(List.of("orders issued over role " + role + " was dropped"), ended());
            world.assertRows("SELECT mint_id FROM audit.unended");
        }
        assertLogVerifies();
    }

    @Test
    void an_admin_ends_a_login_before_its_time() throws Exception {
        try (Connection session = mintedSession()) {
            world.admin(
                    "INSERT INTO broker.ended_credential (mint_id, reason) SELECT mint_id, 'INC-7'"
                            + " FROM audit.event WHERE kind = 'issued'");
            Eventually.holds(() -> !ended().isEmpty());

            assertFalse(works(session), "the session is over");
            assertEquals(List.of(), roles());
            assertTrue(ended().getFirst().startsWith("orders issued asked_for "));
        }
    }

    @Test
    void a_server_that_is_down_when_a_login_ends_delays_only_its_end() throws Exception {
        try (Connection session = mintedSession()) {
            wire.cut();
            timePasses();
            Eventually.holds(() -> !open().isEmpty());
            assertTrue(
                    open().getFirst()
                            .startsWith(
                                    "orders provider_unreachable The connection attempt failed."),
                    () -> open().toString());
            assertTrue(works(session), "nobody has ended it");
            assertEquals(List.of(), ended());
            assertEquals(200, world.broker().mint(world.token(), "deploy").status());

            wire.mend();
            Eventually.holds(() -> !ended().isEmpty());

            assertFalse(works(session), "the session is over");
            assertEquals(List.of(), roles());
            world.assertRows("SELECT mint_id FROM audit.unended");
        }
        assertLogVerifies();
    }

    /** Another login names them in an open transaction, so they can't be dropped. */
    @Test
    void logins_that_are_stuck_delay_no_other() throws Exception {
        try (Connection holder = mintedSession();
                var statement = holder.createStatement()) {
            String own = roles().getFirst();
            IntStream.range(0, 5).forEach(_ -> minted());
            List<String> stuck = roles().stream().filter(role -> !role.equals(own)).toList();
            statement.execute("CREATE TABLE scratch.held (id int)");
            holder.setAutoCommit(false);
            statement.execute("GRANT SELECT ON scratch.held TO " + String.join(", ", stuck));
            ends(stuck);
            Eventually.holds(MINUTE, () -> open().size() == stuck.size());
            IntStream.range(0, 100).forEach(_ -> minted());
            List<String> healthy =
                    roles().stream()
                            .filter(role -> !role.equals(own) && !stuck.contains(role))
                            .toList();
            ends(healthy);

            Eventually.holds(MINUTE, () -> roles().size() == stuck.size() + 1);

            holder.rollback();
            Eventually.holds(MINUTE, () -> roles().equals(List.of(own)));
        }
    }

    private void ends(List<String> roles) {
        world.admin(
                """
                INSERT INTO broker.ended_credential (mint_id, reason)
                SELECT mint_id, 'INC-7' FROM audit.event WHERE kind = 'issued' AND credential_id IN ('%s')
                """
                        .formatted(String.join("', '", roles)));
    }

    @Test
    void a_login_that_a_restored_server_has_again_is_swept_and_recorded_once() throws Exception {
        mintedSession().close();
        String role = roles().getFirst();
        timePasses();
        Eventually.holds(() -> roles().isEmpty() && !ended().isEmpty());
        List<String> before = ended();

        target.run(
                """
                CREATE ROLE %1$s LOGIN PASSWORD 'x' VALID UNTIL '2026-01-01';
                GRANT app_rw TO %1$s;
                GRANT %1$s TO mintmark WITH ADMIN TRUE;
                """
                        .formatted(role));
        timePasses();
        Eventually.holds(() -> roles().isEmpty());

        Eventually.holds(() ->
                world.database().column(Who.OWNER, "SELECT mint_id FROM runtime.ending").isEmpty());
        assertEquals(before, ended());
        assertLogVerifies();
    }

    @Test
    void a_login_that_was_ended_early_is_swept_from_a_restored_server_and_others_stay()
            throws Exception {
        mintedSession().close();
        String role = roles().getFirst();
        ends(List.of(role));
        Eventually.holds(() -> roles().isEmpty() && !ended().isEmpty());
        try (Connection other = mintedSession()) {
            List<String> others = roles();
            target.run(
                    """
                    CREATE ROLE %1$s LOGIN PASSWORD 'x' VALID UNTIL 'infinity';
                    GRANT app_rw TO %1$s;
                    GRANT %1$s TO mintmark WITH ADMIN TRUE;
                    """
                            .formatted(role));
            world.database().runAsSuperuser(SWEEP);
            Eventually.holds(() -> roles().equals(others));

            assertTrue(works(other));
        }
    }

    @Test
    void a_login_that_is_withheld_ends_at_once() {
        Answer answer = world.broker().mint(world.token(), "orders", "nowhere");

        assertEquals("provider_misconfigured", answer.at("/details/reason"), answer.toString());
        Eventually.holds(() -> roles().isEmpty());
        Eventually.holds(() ->
                ended().stream().allMatch(each -> each.startsWith("orders withheld undone"))
                        && !ended().isEmpty());
    }
}
