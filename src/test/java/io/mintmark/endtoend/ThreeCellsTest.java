package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.sql.TestServer;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Three cells with 300 tenants. While clients mint, tenants move, and the commands that move them
 * are killed at each of their steps and run again.
 */
@Tag("heavy")
@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
class ThreeCellsTest {
    private static final int CELLS = 3;
    private static final int TENANTS = 300;
    private static final int MOVES = 10;

    /** Tenants that move; the last moves take the first of them back. */
    private static final int MOVING = 8;

    private static final String SUBJECT = "ci:main";

    private static final String SESSIONS =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                    + " AND application_name LIKE 'mintmark tenant %' ";

    private static final String HERE = "SELECT name FROM broker.tenant WHERE moved_to IS NULL";
    private static final String ISSUED =
            "SELECT request_id FROM audit.event WHERE kind = 'issued' ORDER BY request_id";

    @TempDir private Path directory;
    private final List<MovingCell> cells = new ArrayList<>();
    private final IssuerStandIn issuer = IssuerStandIn.start();

    /** Where a command is killed. */
    private enum Kill {
        NOT,
        EXPORT_BEFORE_COMMIT,
        EXPORT_AFTER_COMMIT,
        IMPORT_BEFORE_COMMIT,
        IMPORT_AFTER_COMMIT
    }

    @BeforeEach
    void start() {
        for (int n = 0; n < CELLS; n++) {
            MovingCell cell = MovingCell.make(directory);
            cells.add(cell);
            if (n > 0) {
                // as docs/run/cells.md gives each cell its own ids
                cell.database()
                        .runAsSuperuser(
                                """
                                SELECT setval(pg_get_serial_sequence('broker.' || name, 'id'), %d000000000000)
                                  FROM unnest('{subject_grant,blocked_subject,grant_review,access_rule,access_approver,
                                                access_decision,console_access}'::text[]) AS name
                                """
                                        .formatted(n));
            }
            cell.database()
                    .admin(
                            """
                            CREATE TEMPORARY TABLE mine AS SELECT 't' || n AS name, 'ci' || n AS idp FROM generate_series(1, %d) AS n WHERE n %% %d = %d;
                            INSERT INTO broker.tenant (name) SELECT name FROM mine;
                            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) SELECT idp, name, '%s', ARRAY['mintmark-' || name] FROM mine;
                            INSERT INTO broker.access_provider (tenant, name, type) SELECT name, 'own', 'jwt' FROM mine;
                            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                            SELECT name, 'api', 'own', 600, '{"audience": "https://api.example.com"}' FROM mine;
                            INSERT INTO broker.subject_grant (tenant, idp, subject, key) SELECT name, idp, 'ci:main', 'api' FROM mine;
                            """
                                    .formatted(TENANTS, CELLS, n, issuer.url()));
        }
    }

    @AfterEach
    void stop() {
        cells.forEach(cell -> {
            cell.broker().close();
            cell.database().close();
        });
        issuer.close();
    }

    private String token(String tenant) {
        return issuer.sign(SUBJECT, "mintmark-" + tenant);
    }

    @Test
    void no_answer_and_no_row_is_lost_or_doubled_while_moves_are_killed_and_repeated()
            throws Exception {
        Map<URI, RunningBroker> brokers = new HashMap<>();
        cells.forEach(cell -> brokers.put(cell.broker().url(), cell.broker()));
        Map<String, URI> places = new HashMap<>();
        for (int n = 1; n <= TENANTS; n++) {
            places.put("t" + n, cells.get(n % CELLS).broker().url());
        }
        AtomicInteger asked = new AtomicInteger();
        try (FollowingClients clients =
                new FollowingClients(
                        brokers, places, this::token, () -> tenant(asked.getAndIncrement()))) {
            clients.awaitMore(100);
            for (int n = 0; n < MOVES; n++) {
                String tenant = "t" + (n % MOVING + 1);
                int origin = (n % MOVING + 1) % CELLS;
                MovingCell from = cells.get(n < MOVING ? origin : (origin + 1) % CELLS);
                MovingCell to = cells.get(n < MOVING ? (origin + 1) % CELLS : origin);
                Kill kill = Kill.values()[n % Kill.values().length];
                clients.whileMoving(tenant, () -> move(tenant, from, to, kill));
                clients.awaitMore(50);
            }
            clients.finish();

            assertEquals(List.of(), clients.failures());
            assertEachAnswerIsOneRow(clients.answered());
        }
        assertEquals(TENANTS, cells.stream().mapToInt(cell -> here(cell).size()).sum());
        assertEquals(
                TENANTS, cells.stream().flatMap(cell -> here(cell).stream()).distinct().count());
        Path keys = Files.createFile(directory.resolve("cells.pem"));
        for (MovingCell cell : cells) {
            Files.writeString(keys, Files.readString(keys) + Files.readString(cell.publicKey()));
        }
        for (MovingCell cell : cells) {
            MovingCell.Ran verified =
                    cell.run(Who.AUDITOR, "audit", "verify", "--cell-keys", keys.toString());
            assertEquals(0, verified.status(), verified.output());
            assertTrue(verified.output().contains("which came from"), verified.output());
        }
    }

    /** Every second request is of a tenant that moves. */
    private static int tenant(int asked) {
        return (asked % 2 == 0 ? asked / 2 % MOVING : asked * 7 % TENANTS) + 1;
    }

    private static List<String> here(MovingCell cell) {
        return cell.database().column(HERE);
    }

    private void assertEachAnswerIsOneRow(Map<String, URI> answered) {
        for (MovingCell cell : cells) {
            Eventually.holds(() -> cell.database().column("TABLE audit.unresolved").isEmpty());
        }
        Map<String, URI> issued = new TreeMap<>();
        for (MovingCell cell : cells) {
            for (String id : cell.database().column(ISSUED)) {
                URI other = issued.put(id, cell.broker().url());
                assertEquals(null, other, id);
            }
        }
        assertEquals(answered, issued);
    }

    private void move(String tenant, MovingCell from, MovingCell to, Kill kill) {
        Path file = directory.resolve(tenant + "-" + kill + ".tenant");
        String[] export = {
            "tenant",
            "export",
            tenant,
            "--to",
            to.broker().url().toString(),
            "--output",
            file.toString()
        };
        String[] imports = {
            "tenant",
            "import",
            file.toString(),
            "--keys",
            Unchecked.call(from::publicKey).toString()
        };
        if (kill == Kill.EXPORT_BEFORE_COMMIT) {
            killWhileWaiting(
                    from,
                    "SELECT FROM broker.tenant WHERE name = '%s' FOR UPDATE".formatted(tenant),
                    export);
            assertTrue(Files.notExists(file));
        } else if (kill == Kill.EXPORT_AFTER_COMMIT) {
            killWhen(from, () -> !here(from).contains(tenant), export);
        }
        assertEquals(0, from.run(Who.ADMIN, export).status());
        assertTrue(!here(from).contains(tenant));
        assertTrue(!here(to).contains(tenant));
        if (kill == Kill.IMPORT_BEFORE_COMMIT) {
            killWhileWaiting(to, "LOCK TABLE broker.tenant IN SHARE MODE", imports);
            assertTrue(!here(to).contains(tenant));
        } else if (kill == Kill.IMPORT_AFTER_COMMIT) {
            killWhen(to, () -> here(to).contains(tenant), imports);
            assertNotEquals(0, to.run(Who.ADMIN, imports).status());
        }
        if (kill != Kill.IMPORT_AFTER_COMMIT) {
            MovingCell.Ran imported = to.run(Who.ADMIN, imports);
            assertEquals(0, imported.status(), imported.output());
        }
        Eventually.holds(() -> to.broker().keys(token(tenant)).status() == 200);
    }

    /** Kills a command while it waits for a lock, and returns when its session has ended. */
    private void killWhileWaiting(MovingCell cell, String lock, String... command) {
        try (Connection holder = superuser(cell);
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute(lock);
            killWhen(cell, () -> sessions(cell, "AND wait_event_type = 'Lock'") == 1, command);
            holder.rollback();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        Eventually.holds(() -> sessions(cell, "") == 0);
    }

    private static Connection superuser(MovingCell cell) throws SQLException {
        TestServer.Address server = TestServer.address();
        return DriverManager.getConnection(
                cell.database().url(), server.superuser(), server.password());
    }

    /** Counts the sessions of commands that move tenants. */
    private static int sessions(MovingCell cell, String condition) {
        return Unchecked.call(() -> {
            try (Connection connection = superuser(cell);
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(SESSIONS + condition)) {
                row.next();
                return row.getInt(1);
            }
        });
    }

    private static void killWhen(MovingCell cell, BooleanSupplier reached, String... command) {
        Map<String, String> settings = new HashMap<>(cell.settings());
        settings.put("DATABASE_USERNAME", Who.ADMIN.login());
        BrokerProcess process = new BrokerProcess(settings, cell.directory(), command);
        Eventually.holds(reached);
        process.kill();
    }
}
