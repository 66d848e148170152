package io.mintmark.provider.postgresql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;
import static org.junit.jupiter.api.parallel.ExecutionMode.SAME_THREAD;

import io.mintmark.Unchecked;
import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.sql.SqlRunner;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.LeaseRevocation.Gone;
import io.mintmark.provider.LeaseRevocation.NotYet;
import io.mintmark.provider.LeaseRevocation.Stuck;
import io.mintmark.provider.LeaseRevoker.NotListed;
import io.mintmark.provider.Orders;
import io.mintmark.provider.postgresql.Target.Login;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Sessions that are hard to end. A client can make the server wait before it shows whose a session
 * is; by then it has its role. The servers are tried at the same time, each with one case after the
 * other.
 */
@ParameterizedClass
@ValueSource(ints = {16, 17, 18})
@Execution(CONCURRENT)
@Tag("heavy")
class RoleSessionsTest {
    /** The longest that there is. */
    private static final int DELAY = 2147;

    @TempDir Path secrets;
    @Parameter private int version;
    private TargetServer server;

    @BeforeEach
    void share() {
        server = TargetServer.shared(version);
    }

    @AfterEach
    void clean() {
        server.run("SELECT pg_terminate_backend(pid, 2000) FROM (%s)".formatted(STARTING));
        server.clean();
    }

    /** They have locked their database, and have no name yet. */
    private static final String STARTING =
            """
            SELECT l.pid FROM pg_locks AS l LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
             WHERE l.locktype = 'object' AND l.classid = 'pg_database'::regclass AND a.usesysid IS NULL
            """;

    private CompletableFuture<Connection> begin(String user, String password, int delay) {
        int before = server.column(STARTING).size();
        CompletableFuture<Connection> session =
                CompletableFuture.supplyAsync(
                        () -> {
                            return Unchecked.call(() ->
                                    server.connect(
                                            user,
                                            password,
                                            "postgres",
                                            "-c post_auth_delay=" + delay));
                        },
                        each -> Thread.ofVirtual().start(each));
        Eventually.holds(() -> server.column(STARTING).size() > before);
        return session;
    }

    private static void assertOver(CompletableFuture<Connection> session) {
        assertThrows(
                ExecutionException.class, () -> session.get(Eventually.SECONDS, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @Execution(SAME_THREAD)
    @CsvSource({"app_owner, owner", "app_rw, member"})
    void one_of_an_ended_login_is_ended_and_no_other(String role, String as) throws Exception {
        Target target = new Target(server.port(), secrets);
        Login login = target.login("{'role': '%s', 'as': '%s'}".formatted(role, as));
        server.run("CREATE ROLE bystander LOGIN PASSWORD 'x'");
        try {
            CompletableFuture<Connection> first =
                    begin(login.name(), login.field("Password"), DELAY);
            CompletableFuture<Connection> second =
                    begin(login.name(), login.field("Password"), DELAY);
            CompletableFuture<Connection> bystander = begin("bystander", "x", 1);

            assertInstanceOf(Gone.class, target.end());

            assertOver(first);
            assertOver(second);
            assertEquals(
                    List.of("bystander"), SqlRunner.column(bystander.get(), "SELECT current_user"));
            bystander.get().close();
        } finally {
            server.run("DROP ROLE bystander");
        }
    }

    /** A rule on a catalog waits for all its readers before its right is checked. */
    private CompletableFuture<Integer> queue(String user, String password, String catalog) {
        CompletableFuture<Integer> queue =
                CompletableFuture.supplyAsync(
                        () -> {
                            try (Connection session = server.connect(user, password, "postgres")) {
                                return session.createStatement()
                                        .executeUpdate(
                                                "CREATE RULE r AS ON INSERT TO %s DO NOTHING"
                                                        .formatted(catalog));
                            } catch (SQLException e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        each -> Thread.ofVirtual().start(each));
        Eventually.holds(() ->
                !server.column(
                                "SELECT 1 FROM pg_locks WHERE relation = '%s'::regclass AND NOT granted"
                                        .formatted(catalog))
                        .isEmpty());
        return queue;
    }

    @ParameterizedTest
    @Execution(SAME_THREAD)
    @ValueSource(strings = {"pg_shdepend", "pg_shdescription"})
    void a_login_whose_sessions_lock_a_catalog_ends(String catalog) throws Exception {
        Target target = new Target(server.port(), secrets);
        Login login = target.login();
        try (Connection reader = login.connect()) {
            reader.setAutoCommit(false);
            SqlRunner.column(reader, "SELECT count(*) FROM " + catalog);
            CompletableFuture<Integer> queue =
                    queue(login.name(), login.field("Password"), catalog);

            assertInstanceOf(Gone.class, target.end());

            assertThrows(
                    ExecutionException.class,
                    () -> queue.get(Eventually.SECONDS, TimeUnit.SECONDS));
            assertThrows(SQLException.class, () -> SqlRunner.column(reader, "SELECT 1"));
        }
    }

    @ParameterizedTest
    @Execution(SAME_THREAD)
    @CsvSource({"pg_shdepend, 60", "pg_shdescription, 60", "pg_shdepend, 5"})
    void sessions_end_while_another_login_locks_a_catalog(String catalog, int seconds)
            throws Exception {
        Target target = new Target(server.port(), secrets);
        Login login =
                target.login(target.key("{'role': 'app_rw'}").lasting(Duration.ofSeconds(seconds)));
        server.run("CREATE ROLE attacker LOGIN PASSWORD 'x'");
        try (Connection session = login.connect();
                Connection reader = server.connect("attacker", "x", "postgres")) {
            reader.setAutoCommit(false);
            SqlRunner.column(reader, "SELECT count(*) FROM " + catalog);
            CompletableFuture<Integer> queue = queue("attacker", "x", catalog);

            assertInstanceOf(Stuck.class, target.end());

            assertThrows(SQLException.class, () -> SqlRunner.column(session, "SELECT 1"));
            assertThrows(SQLException.class, login::connect);
            reader.rollback();
            assertThrows(
                    ExecutionException.class,
                    () -> queue.get(Eventually.SECONDS, TimeUnit.SECONDS));
            assertInstanceOf(Gone.class, target.end());
        } finally {
            server.run("DROP ROLE attacker");
        }
    }

    @Test
    @Execution(SAME_THREAD)
    void the_servers_log_has_no_warnings_of_processes_without_a_login() throws Exception {
        Target target = new Target(server.port(), secrets);
        int before = server.log().length();
        Login login = target.login();
        try (Connection _ = login.connect()) {
            assertInstanceOf(Gone.class, target.end());
        }

        String log = server.log().substring(before);
        assertFalse(log.contains("is not a PostgreSQL"), log);
    }

    @Test
    @Execution(SAME_THREAD)
    void the_statements_for_people_end_it_too() throws Exception {
        Login login =
                new Target(server.port(), secrets).login("{'role': 'app_owner', 'as': 'owner'}");
        CompletableFuture<Connection> starting =
                begin(login.name(), login.field("Password"), DELAY);
        try (Connection open = login.connect()) {
            statements(login).forEach(server::run);

            assertOver(starting);
            assertThrows(SQLException.class, () -> SqlRunner.column(open, "SELECT 1"));
        }
        server.assertRows("SELECT rolname FROM pg_roles WHERE rolname ~ '^mm_'");
    }

    /** A kill has the server start again, now without a primary to follow. */
    @Test
    @Execution(SAME_THREAD)
    void at_a_standby_no_mint_counts_as_ended() throws Exception {
        try (TargetServer standby =
                TargetServer.start(TargetServer.NEWEST, Map.of(), TargetServer.HBA)) {
            Target target = new Target(standby.port(), secrets);
            assertInstanceOf(Gone.class, target.end());
            standby.run("CHECKPOINT");
            Files.createFile(standby.data().resolve("standby.signal"));
            try (Connection session = standby.connect("postgres", "", "postgres")) {
                signal("-KILL", SqlRunner.column(session, "SELECT pg_backend_pid()").getFirst());
            }
            Eventually.holds(() -> isStandby(standby));

            NotYet ended = assertInstanceOf(NotYet.class, target.end());

            assertEquals(Reason.PROVIDER_MISCONFIGURED, ended.reason());
            assertTrue(ended.detail().startsWith("a standby"), ended.detail());
            assertThrows(NotListed.class, target::leftBehind);
        }
    }

    private static boolean isStandby(TargetServer server) {
        try (Connection session = server.connect("postgres", "", "postgres")) {
            return SqlRunner.column(session, "SELECT pg_is_in_recovery()").equals(List.of("t"));
        } catch (SQLException e) {
            return false;
        }
    }

    /** As one that waits for a disk. */
    @Test
    @Execution(SAME_THREAD)
    void one_that_cant_be_interrupted_is_named_until_it_ends() throws Exception {
        Target target = new Target(server.port(), secrets);
        Login login = target.login();
        try (Connection session = login.connect()) {
            String process = SqlRunner.column(session, "SELECT pg_backend_pid()").getFirst();
            Eventually.holds(() ->
                    server.column("SELECT wait_event FROM pg_stat_activity WHERE pid = " + process)
                            .equals(List.of("ClientRead")));
            signal("-STOP", process);
            try {
                Stuck stuck = assertInstanceOf(Stuck.class, target.end());

                assertTrue(
                        stuck.detail()
                                .endsWith("did not end: %s (Client ClientRead)".formatted(process)),
                        stuck.detail());
            } finally {
                signal("-CONT", process);
            }
            assertInstanceOf(Gone.class, target.end());
        }
    }

    private static void signal(String name, String process) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", name, process).start().waitFor());
    }

    private static List<String> statements(Login login) {
        ActiveCredential credential =
                new ActiveCredential(
                        "acme",
                        "ci:main",
                        "deploy",
                        "cloud",
                        "postgresql",
                        Orders.MINT_ID.value(),
                        "issued",
                        Optional.of(login.name()),
                        Optional.of("app_owner"),
                        "",
                        Optional.empty(),
                        Instant.now());
        return new PostgresType()
                .manualRevocations(List.of(credential), 1).getFirst().lines().stream()
                        .filter(line -> line.endsWith(";"))
                        .toList();
    }
}
