package io.mintmark.base.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.Database.PoolNumbers;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.time.Clocks;
import io.mintmark.broker.token.LogBook;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;

/** What the service makes of sessions that a pooler opened in its own way. */
class ServiceSessionTest {
    private static final String LIMITS =
            "-c synchronous_commit=on -c statement_timeout=5000 -c lock_timeout=4s"
                    + " -c idle_in_transaction_session_timeout=10s ";

    @AutoClose private static final TestDatabase database = TestDatabase.migrated();

    private static void opened(String options) throws SQLException {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(database.url());
        source.setOptions(options);
        try (Connection session = source.getConnection(Who.APP.login(), TestDatabase.PASSWORD)) {
            new ServiceSession("it's \"app\"").require(session);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    -c synchronous_commit=off         | SET synchronous_commit = 'on';
                    -c synchronous_commit=local       | SET synchronous_commit = 'on';
                    -c synchronous_commit=remote_write | SET synchronous_commit = 'on';
                    -c search_path=public,pg_catalog  | SET search_path = pg_catalog,pg_temp;
                    """)
    void a_session_that_could_lose_or_mistake_something_is_refused(String options, String remedy) {
        SQLException refusal = assertThrows(SQLException.class, () -> opened(LIMITS + options));

        String said = String.valueOf(refusal.getMessage());
        assertTrue(said.endsWith("ALTER ROLE \"it's \"\"app\"\"\" " + remedy), said);
        assertEquals(
                "the sessions lack a setting that keeps the log intact",
                ConnectionFault.of(refusal));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    -c statement_timeout=0                  | SET statement_timeout = '5s';
                    -c lock_timeout=1min                    | SET lock_timeout = '4s';
                    -c search_path=public                   | SET search_path = pg_catalog,pg_temp;
                    """)
    void a_session_without_a_limit_is_taken_with_a_warning(String options, String remedy)
            throws SQLException {
        try (LogBook logged = LogBook.open()) {
            opened(LIMITS + "-c search_path=pg_catalog,pg_temp " + options);

            assertTrue(logged.text().contains(remedy), logged::text);
            assertEquals(2, logged.text().split("ALTER ROLE", -1).length, logged::text);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"on", "remote_apply"})
    void what_the_page_says_to_set_is_enough(String durability) throws SQLException {
        try (LogBook logged = LogBook.open()) {
            opened(
                    LIMITS
                            + "-c search_path=pg_catalog,\\ pg_temp -c synchronous_commit="
                            + durability);

            assertTrue(!logged.text().contains("ALTER ROLE"), logged::text);
        }
    }

    /** As those behind PgBouncer are when their primary has become a standby. */
    @Test
    void connections_that_became_read_only_are_replaced() {
        try (Database service = new Database(database.login(Who.APP), 3)) {
            becomeReadOnly(service);
            assertThrows(QueryFailed.class, () -> forgetTokens(service));

            forgetTokens(service);
        }
    }

    @Test
    void health_looks_for_a_database_that_takes_writes() {
        try (Database service = new Database(database.login(Who.APP), 3)) {
            DatabaseHealth health = new DatabaseHealth(service, Clocks.of(InstantSource.system()));
            becomeReadOnly(service);
            assertEquals(
                    Optional.of("the database is read-only, so nothing can be recorded"),
                    health.fault());

            assertEquals(Optional.empty(), health.fault());
        }
    }

    /** Two are for writing. */
    @ParameterizedTest
    @CsvSource({"3, 1", "12, 10"})
    void readers_share_what_the_pool_may_open(int size, int reading) throws SQLException {
        try (Database service = new Database(database.login(Who.APP), size);
                ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor();
                Connection holding = database.connect(Who.APP);
                Statement lock = holding.createStatement()) {
            lock.execute("SELECT pg_advisory_lock(1)");
            AtomicBoolean seen = new AtomicBoolean();
            for (int n = 0; n < 2 * size; n++) {
                readers.execute(() -> waitsForTheLock(service, seen));
            }

            int waiting = 2 * size - reading;
            Eventually.holds(() -> {
                PoolNumbers now = service.numbers();
                return now.active() == reading && now.waiting() == waiting;
            });
            seen.set(true);
        }
    }

    /** Again if it waits longer than the pool or the database lets it, until all were seen. */
    private static void waitsForTheLock(Database service, AtomicBoolean seen) {
        while (!seen.get()) {
            try {
                var _ =
                        service.reading()
                                .query(
                                        "SELECT pg_advisory_xact_lock_shared(1)::text",
                                        List.of(),
                                        row -> row);
            } catch (QueryFailed _) {
                Thread.onSpinWait();
            }
        }
    }

    /** The one connection that is open then. */
    private static void becomeReadOnly(Database service) {
        var _ =
                service.writing()
                        .query(
                                "SELECT set_config('default_transaction_read_only', 'on', false)",
                                List.of(),
                                row -> row);
    }

    private static void forgetTokens(Database service) {
        service.writing().change("DELETE FROM runtime.used_token", List.of());
    }
}
