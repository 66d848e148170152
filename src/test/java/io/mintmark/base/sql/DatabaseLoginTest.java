package io.mintmark.base.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

class DatabaseLoginTest {
    @AutoClose private static final TestDatabase database = TestDatabase.migrated();

    /** What a session of the service has for a setting, when the address has parameters. */
    private static String setting(String parameters, String name) {
        String url = database.url() + (database.url().contains("?") ? "&" : "?") + parameters;
        DatabaseLogin login =
                new DatabaseLogin(url, Who.APP.login(), () -> Optional.of(TestDatabase.PASSWORD));
        try (Database service = new Database(login)) {
            return service.reading()
                    .query(
                            "SELECT current_setting(:name) AS setting",
                            Map.of("name", name),
                            row -> row.column("setting").get(String.class))
                    .getFirst();
        }
    }

    @Test
    void an_address_can_not_make_commits_less_durable() {
        assertEquals("on", setting("options=-c%20synchronous_commit%3Doff", "synchronous_commit"));
    }

    @Test
    void an_address_may_say_what_we_say_nothing_of() {
        assertEquals("7MB", setting("options=-c%20work_mem%3D7MB", "work_mem"));
    }

    @Test
    void an_address_can_not_make_it_another_login() {
        assertEquals(Who.APP.login(), setting("user=test_owner", "session_authorization"));
    }

    @Test
    void a_pool_whose_first_connection_breaks_takes_the_next() throws Exception {
        LoginSource source = database.login(Who.APP).source("test", "");
        HikariConfig config = Database.pool("test", source, 1, Duration.ofSeconds(5));
        config.setDataSource(breakingOnce(source));
        try (HikariDataSource pool = new HikariDataSource(config);
                Connection connection = pool.getConnection()) {
            assertTrue(connection.isValid(1));
        }
    }

    /** Ends the first connection when the pool asks for its isolation level. */
    private static DataSource breakingOnce(DataSource source) {
        AtomicBoolean broken = new AtomicBoolean();
        return proxy(
                DataSource.class,
                source,
                (_, answer) ->
                        answer instanceof Connection connection
                                ? proxy(
                                        Connection.class,
                                        connection,
                                        (asked, value) -> {
                                            if (asked.equals("getTransactionIsolation")
                                                    && broken.compareAndSet(false, true)) {
                                                throw new SQLException("broken", "08006");
                                            }
                                            return value;
                                        })
                                : answer);
    }

    @Test
    void a_command_awaits_a_login_longer_than_a_host() {
        LoginSource source = database.login(Who.APP).source("test", "");

        assertEquals(10, source.getConnectTimeout());
        assertEquals(60, source.getLoginTimeout());
    }

    @Test
    void a_server_that_accepts_a_connection_and_is_silent_is_named_as_the_cause() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            LoginSource source =
                    new DatabaseLogin(
                                    "jdbc:postgresql://127.0.0.1:" + silent.getLocalPort() + "/m",
                                    "app",
                                    Optional::empty)
                            .source("test", "");
            source.limitLogin(1);

            SQLException failure = assertThrows(SQLException.class, source::getConnection);

            DatabaseUnfit unfit = DatabaseUnfit.because(failure);
            assertEquals("the server doesn't respond in time", unfit.getMessage());
            assertTrue(unfit.isUnreachable());
        }
    }

    private interface Answer {
        Object of(String method, Object answer) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, T real, Answer answer) {
        return type.cast(
                Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (_, method, arguments) ->
                                answer.of(method.getName(), method.invoke(real, arguments))));
    }

    @Test
    void an_address_that_the_driver_does_not_understand_is_not_repeated() {
        String url = "jdbc:postgresql://db:port/m?password=hunter2";

        DatabaseUnfit refusal =
                assertThrows(
                        DatabaseUnfit.class,
                        () -> new DatabaseLogin(url, "app", () -> Optional.empty()).source("", ""));

        assertFalse(String.valueOf(refusal.getMessage()).contains("hunter2"));
    }
}
