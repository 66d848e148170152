package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.start.StartFailed;
import io.mintmark.broker.token.LogBook;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A start and a database that can't be reached, or not yet. */
@Timeout(Eventually.SECONDS)
@Tag("heavy")
class StartWaitTest {
    private static final Map<String, String> LONG = Map.of("DATABASE_START_TIMEOUT", "PT10M");

    @AutoClose private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.migrated();
    }

    @Test
    void it_waits_for_a_database_that_takes_no_connections_yet() throws Exception {
        limit(0);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                LogBook log = LogBook.open()) {
            Future<RunningBroker> starting = threads.submit(() -> RunningBroker.on(database, LONG));
            Eventually.holds(() -> log.text().contains("startup retries"));
            limit(-1);
            try (RunningBroker broker = starting.get()) {
                assertEquals(200, broker.get("/health").status());
            }
        }
    }

    @Test
    void a_check_waits_as_long_as_a_start(@TempDir Path directory) throws Exception {
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(database, RunningBroker.freePort()));
        environment.putAll(LONG);
        limit(0);
        long longer = System.nanoTime() + TimeUnit.SECONDS.toNanos(11); // than one connection takes
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Integer> checking =
                    threads.submit(() -> new Commands(environment, directory).execute("check"));
            Eventually.holds(() -> System.nanoTime() - longer > 0);
            limit(-1);
            assertEquals(0, checking.get());
        }
    }

    @Test
    void a_database_whose_logins_take_longer_than_clients_wait_is_reached() throws Exception {
        try (DeafProxy slow = new DeafProxy(database.url())) {
            slow.delay(Duration.ofMillis(1_500));
            try (RunningBroker broker = RunningBroker.at(slow.url(), LONG)) {
                Eventually.holds(() -> broker.get("/health").status() == 200);
            }
        }
    }

    @Test
    void it_waits_no_longer_than_it_was_told() {
        limit(0);
        long began = System.nanoTime();

        StartFailed failed =
                assertThrows(
                        StartFailed.class,
                        () -> RunningBroker.on(database, Map.of("DATABASE_START_TIMEOUT", "PT1S")));

        assertTrue(System.nanoTime() - began >= TimeUnit.SECONDS.toNanos(1));
        assertTrue(failed.toString().contains("StartFailed: DATABASE_URL "), failed::toString);
        assertTrue(failed.toString().contains("(tried for 1 s)"), failed::toString);
    }

    @Test
    void what_waiting_does_not_mend_ends_it_at_once() {
        Map<String, String> wrong =
                Map.of(
                        "DATABASE_START_TIMEOUT", "PT10M",
                        "DATABASE_OWNER_USERNAME", "nobody_there");

        StartFailed failed =
                assertThrows(StartFailed.class, () -> RunningBroker.on(database, wrong));

        assertTrue(failed.toString().contains("nobody_there"), failed::toString);
    }

    private void limit(int connections) {
        database.runAsSuperuser(
                "ALTER DATABASE %s CONNECTION LIMIT %d".formatted(database.name(), connections));
    }
}
