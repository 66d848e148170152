package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.HikariDataSource;

import io.mintmark.base.sql.SqlRunner;
import io.mintmark.broker.token.ManualClock;
import io.mintmark.endtoend.Documented;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.LoginWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.StringReader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/**
 * {@code src/clients/java/MintmarkLogin.java}, compiled as its readers do it, with HikariCP and the
 * JDBC driver: logins of a broker to a real server.
 */
class ConnectionPoolTest {
    private static final String BROKER_IS_AWAY =
            "{\"error\": \"SERVICE_UNAVAILABLE\", \"message\": \"Retry \\\"later\\\".\", \"requestId\": \"r-1\"}";

    @TempDir private static Path directory;
    @AutoClose private static LoginWorld world;
    private static Class<?> login;

    private final ManualClock clock = new ManualClock(Instant.now());
    private final List<AutoCloseable> opened = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        login = CopiedClass.compiled(directory.resolve("classes"));
        world = new LoginWorld(directory);
        Files.writeString(tokenFile(), world.broker().token() + "\n");
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
    }

    private static Path tokenFile() {
        return directory.resolve("token");
    }

    private HikariCredentialsProvider logins(String broker, String key) throws Exception {
        return (HikariCredentialsProvider)
                login.getConstructor(URI.class, Path.class, String.class, InstantSource.class)
                        .newInstance(URI.create(broker), tokenFile(), key, clock);
    }

    private HikariDataSource pool(String key) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(world.jdbcUrl());
        config.setCredentialsProvider(logins(world.broker().broker().url().toString(), key));
        config.setMaximumPoolSize(3);
        config.setConnectionTimeout(Eventually.PATIENCE.toMillis());
        config.setInitializationFailTimeout(-1);
        HikariDataSource pool = new HikariDataSource(config);
        opened.add(pool);
        return pool;
    }

    private static String user(Connection connection) throws SQLException {
        return SqlRunner.column(connection, "SELECT current_user").getFirst();
    }

    private static String userOfOne(HikariDataSource pool) {
        try (Connection connection = pool.getConnection()) {
            return user(connection);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void connections_share_a_login_and_later_ones_get_the_next_which_is_made_beside_them()
            throws Exception {
        int before = world.logins().size();
        HikariDataSource pool = pool("orders-login");
        try (Connection one = pool.getConnection();
                Connection two = pool.getConnection()) {
            String first = user(one);
            assertEquals(List.of(first, first), List.of(user(two), userOfOne(pool)));
            assertEquals(before + 1, world.logins().size());

            clock.pass(LoginWorld.LIFE.multipliedBy(3).dividedBy(4));
            Eventually.holds(() -> {
                pool.getHikariPoolMXBean().softEvictConnections();
                return !userOfOne(pool).equals(first);
            });
            assertEquals(first, user(one), "an open connection was disturbed");
            assertEquals(before + 2, world.logins().size());
        }
    }

    @Test
    void open_connections_end_with_their_login_and_the_pool_goes_on() throws Exception {
        HikariDataSource pool = pool("orders-login");
        try (Connection open = pool.getConnection()) {
            String first = user(open);
            clock.pass(LoginWorld.LIFE);
            world.endOfLogins();

            SQLException ended = assertThrows(SQLException.class, () -> user(open));
            assertTrue(List.of("57P01", "08006").contains(ended.getSQLState()), ended::toString);
            assertNotEquals(first, userOfOne(pool));
        }
    }

    @Test
    void a_refusal_is_what_the_application_reads() {
        String refused =
                Objects.requireNonNull(
                        assertThrows(IllegalStateException.class, () -> pool("spare"))
                                .getMessage());
        assertTrue(refused.contains("for key 'spare': status 403, Subject 'ci:main' has"), refused);
        assertTrue(refused.matches(".* \\(request [0-9a-f-]{36}\\)"), refused);
    }

    @Test
    void a_login_serves_until_its_end_while_the_broker_is_away() throws Exception {
        StandIn broker = new StandIn();
        opened.add(broker);
        String answer =
                "{\"credentials\": {\"k\": {\"PGUSER\": \"%s\", \"PGPASSWORD\": \"a\\u00e4\\\"\\\\\"}},"
                        + " \"issuedAt\": \"2020-01-01T00:00:00.25Z\", \"expiresAt\": \"2020-01-01T01:00:00Z\"}";
        broker.says("/credentials/mint", 200, answer.formatted("first"));
        broker.says("/credentials/mint", 503, BROKER_IS_AWAY);
        broker.says("/credentials/mint", 200, answer.formatted("second"));
        broker.says("/credentials/mint", 503, BROKER_IS_AWAY, Map.of("Retry-After", "60"));
        HikariCredentialsProvider logins = logins(broker.url(), "k");

        assertEquals("first", logins.getCredentials().getUsername());
        assertEquals("aä\"\\", logins.getCredentials().getPassword());
        clock.pass(Duration.ofMinutes(45));
        assertEquals("first", logins.getCredentials().getUsername());
        Eventually.holds(() -> broker.asked().size() == 2);
        assertEquals("first", logins.getCredentials().getUsername());
        Eventually.holds(() -> {
            clock.pass(Duration.ofSeconds(6));
            return logins.getCredentials().getUsername().equals("second");
        });

        clock.pass(Duration.ofHours(1));
        String message =
                Objects.requireNonNull(
                        assertThrows(IllegalStateException.class, logins::getCredentials)
                                .getMessage());
        assertTrue(message.endsWith("status 503, Retry \"later\". (request r-1)"), message);
    }

    private static String answer(String user, Instant issued, int seconds) {
        return "{\"credentials\": {\"k\": {\"PGUSER\": \"%s\", \"PGPASSWORD\": \"p\"}}, \"issuedAt\": \"%s\", \"expiresAt\": \"%s\"}"
                .formatted(user, issued, issued.plusSeconds(seconds));
    }

    @Test
    void the_first_login_is_asked_for_again_while_nothing_can_be_issued_twice() throws Exception {
        StandIn broker = new StandIn();
        opened.add(broker);
        broker.says("/credentials/mint", 503, BROKER_IS_AWAY);
        broker.says("/credentials/mint", 429, "{\"retryAfter\": 1}");
        broker.says("/credentials/mint", 200, answer("first", Instant.now(), 3600));
        assertEquals("first", logins(broker.url(), "k").getCredentials().getUsername());
        assertEquals(3, broker.asked().size());
        long waited =
                Duration.between(broker.asked().get(1).at(), broker.asked().get(2).at()).toMillis();
        assertTrue(waited >= 1000, () -> "it was asked to wait a second, and waited " + waited);
    }

    @Test
    void a_wait_that_the_broker_asks_for_holds_for_every_connection() throws Exception {
        StandIn broker = new StandIn();
        opened.add(broker);
        broker.says("/credentials/mint", 429, "{\"message\": \"Later.\", \"retryAfter\": 100}");
        HikariCredentialsProvider logins = logins(broker.url(), "k");
        for (int i = 0; i < 5; i++) {
            assertThrows(IllegalStateException.class, logins::getCredentials);
        }
        assertEquals(1, broker.asked().size());
        clock.pass(Duration.ofSeconds(102));
        assertThrows(IllegalStateException.class, logins::getCredentials);
        assertEquals(2, broker.asked().size());
    }

    @Test
    void a_gateways_answer_that_leaves_it_open_is_named_and_not_repeated() throws Exception {
        for (int status : List.of(502, 504)) {
            StandIn broker = new StandIn();
            opened.add(broker);
            broker.says("/credentials/mint", status, "<html></html>");
            HikariCredentialsProvider logins = logins(broker.url(), "k");
            for (int i = 0; i < 3; i++) {
                String message =
                        Objects.requireNonNull(
                                assertThrows(IllegalStateException.class, logins::getCredentials)
                                        .getMessage());
                assertTrue(
                        message.startsWith(
                                "Mintmark may have issued a login for key 'k'; the audit log shows whether it did: status "
                                        + status),
                        message);
            }
            assertEquals(1, broker.asked().size());
        }
    }

    @Test
    void logins_that_are_over_when_they_come_are_minted_ever_less_often() throws Exception {
        StandIn broker = new StandIn();
        opened.add(broker);
        broker.says("/credentials/mint", 200, answer("over", Instant.now(), -5));
        HikariCredentialsProvider logins = logins(broker.url(), "k");
        for (int second = 0; second < 300; second++) {
            logins.getCredentials();
            clock.pass(Duration.ofSeconds(1));
        }
        assertTrue(broker.asked().size() <= 5, () -> broker.asked().size() + " mints");
    }

    @Test
    void a_clock_that_differs_is_named_once() throws Exception {
        StandIn broker = new StandIn();
        opened.add(broker);
        Instant issued = clock.instant().minusSeconds(7200);
        broker.says("/credentials/mint", 200, answer("first", issued, 600));
        broker.says("/credentials/mint", 200, answer("second", issued.plusSeconds(600), 600));
        HikariCredentialsProvider logins = logins(broker.url(), "k");
        LogLines handler = new LogLines();
        Logger log = Logger.getLogger(login.getName());
        log.addHandler(handler);
        try {
            logins.getCredentials();
            clock.pass(Duration.ofMinutes(10));
            logins.getCredentials();
        } finally {
            log.removeHandler(handler);
        }
        assertEquals(2, broker.asked().size());
        assertEquals(
                List.of(
                        "The clock of this machine is 7200 s ahead of the broker's; correct the clock"),
                handler.lines);
    }

    /** What is logged, as it is printed. */
    private static final class LogLines extends Handler {
        private final List<String> lines = new CopyOnWriteArrayList<>();

        @Override
        public void publish(LogRecord record) {
            lines.add(new SimpleFormatter().formatMessage(record));
        }

        @Override
        public void flush() {
            // nothing is kept back
        }

        @Override
        public void close() {
            // nothing is open
        }
    }

    @Test
    void the_token_of_an_actor_goes_with_the_subjects() throws Exception {
        StandIn broker = new StandIn();
        opened.add(broker);
        broker.mints("k", "{\"PGUSER\": \"u\", \"PGPASSWORD\": \"p\"}");
        Path actor = Files.writeString(directory.resolve("actor"), "actor.identity.token\n");
        logins(broker.url(), "k").getCredentials();
        assertEquals(Optional.empty(), broker.asked().getLast().header("Mintmark-Actor-Token"));
        System.setProperty("mintmark.actorTokenFile", actor.toString());
        try {
            logins(broker.url(), "k").getCredentials();
        } finally {
            System.clearProperty("mintmark.actorTokenFile");
        }
        assertEquals(
                Optional.of("actor.identity.token"),
                broker.asked().getLast().header("Mintmark-Actor-Token"));
    }

    /** By the properties of the page. */
    @Test
    void the_driver_gets_the_next_password_of_a_user_that_stays() throws Exception {
        StandIn broker = new StandIn();
        opened.add(broker);
        Properties connection = new Properties();
        connection.load(
                new StringReader(
                        Documented.blocks("clients/databases.md", "properties").stream()
                                .filter(block -> block.contains("Password"))
                                .findFirst()
                                .orElseThrow()));
        String name = connection.getProperty("user");
        world.target()
                .run(
                        "CREATE ROLE \"%1$s\" LOGIN PASSWORD 'of-an-hour'; GRANT app_rw TO \"%1$s\""
                                .formatted(name));
        broker.mints(
                connection.getProperty("mintmarkKey"),
                "{\"GOOGLE_OAUTH_ACCESS_TOKEN\": \"of-an-hour\"}");
        connection.putAll(
                Map.of("mintmarkUrl", broker.url(), "mintmarkTokenFile", tokenFile().toString()));
        Thread.currentThread().setContextClassLoader(login.getClassLoader());
        try {
            for (int i = 0; i < 3; i++) {
                try (Connection session =
                        DriverManager.getConnection(world.jdbcUrl(), connection)) {
                    assertEquals(name, user(session));
                }
            }
        } finally {
            Thread.currentThread().setContextClassLoader(getClass().getClassLoader());
        }
        assertEquals(1, broker.asked().size());
        assertEquals(
                "Bearer " + Files.readString(tokenFile()).strip(),
                broker.asked().getFirst().header("Authorization").orElseThrow());
    }

    @Test
    void a_token_is_not_sent_in_the_clear() {
        Exception refused =
                assertThrows(
                        Exception.class, () -> logins("http://broker.example.com", "orders-login"));
        assertTrue(String.valueOf(refused.getCause()).contains("must be https"));
    }
}
