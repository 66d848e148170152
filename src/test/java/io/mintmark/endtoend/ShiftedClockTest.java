package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.cli.Commands;
import io.mintmark.postgres.TestDatabase;
import io.mintmark.postgres.TestDatabase.Who;
import io.mintmark.wiring.StartFailed;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Replicas whose clocks differ from the database's. */
class ShiftedClockTest {

    /** This machine's clock, put forward or back. */
    private static final class Shifted implements InstantSource {
        private volatile Duration by = Duration.ZERO;

        @Override
        public Instant instant() {
            return Instant.now().plus(by);
        }
    }

    private static int verified(TestDatabase database) {
        Map<String, String> environment = new HashMap<>(RunningBroker.environment(database, 1));
        environment.put("DATABASE_USERNAME", Who.AUDITOR.login());
        return new Commands(environment, Path.of("")).execute("audit", "verify");
    }

    @ParameterizedTest
    @ValueSource(longs = {-600, -31, 32, 600})
    void a_replica_whose_clock_is_wrong_does_not_start_and_says_so_in_one_line(long seconds) {
        Shifted clock = new Shifted();
        clock.by = Duration.ofSeconds(seconds);
        try (TestDatabase database = TestDatabase.migrated()) {
            StartFailed failed =
                    assertThrows(StartFailed.class, () -> RunningBroker.on(database, clock));
            String message = String.valueOf(failed.getMessage());
            assertTrue(message.contains(seconds < 0 ? "behind" : "ahead of"), message);
            assertEquals(1, message.lines().count());
            assertEquals(List.of(), database.column("SELECT number FROM audit.checkpoint"));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-600, 600})
    void a_clock_that_goes_wrong_makes_its_replica_unready_and_harms_no_log(long seconds) {
        Shifted clock = new Shifted();
        try (TestDatabase database = TestDatabase.migrated()) {
            try (RunningBroker right = RunningBroker.on(database)) {
                try (RunningBroker wrong = RunningBroker.on(database, clock)) {
                    assertEquals(200, wrong.get("/health").status());
                    clock.by = Duration.ofSeconds(seconds);
                    Eventually.holds(() -> wrong.get("/health").status() == 503);
                    assertTrue(wrong.get("/health").texts("/errors").toString().contains("clock"));
                    assertEquals(200, right.get("/health").status());
                }
                database.run(Who.ADMIN, "INSERT INTO broker.tenant (name) VALUES ('acme')");
            }
            assertEquals(0, verified(database));
            assertEquals(
                    List.of("t"),
                    database.column(
                            "SELECT bool_and(abs(extract(epoch FROM now() - sealed_at)) < 60)"
                                    + " FROM audit.checkpoint"));
        }
    }

    @Test
    void a_clock_that_is_put_right_makes_its_replica_ready_again() {
        Shifted clock = new Shifted();
        try (TestDatabase database = TestDatabase.migrated();
                RunningBroker broker = RunningBroker.on(database, clock)) {
            clock.by = Duration.ofMinutes(10);
            Eventually.holds(() -> broker.get("/health").status() == 503);
            clock.by = Duration.ofSeconds(-5);
            Eventually.holds(() -> broker.get("/health").status() == 200);
        }
    }
}
