package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.start.StartFailed;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/** Replicas whose clocks differ from the database's. */
class ShiftedClockTest {
    private static final String ROWS =
            """
            SELECT string_agg(format('%s %s %s %s', mint_id, kind, reason, detail), '; '
                              ORDER BY mint_id, step)
              FROM audit.event
            """;

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
            database.assertRows("SELECT number FROM audit.checkpoint");
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
                database.admin("INSERT INTO broker.tenant (name) VALUES ('acme')");
            }
            assertEquals(0, verified(database));
            database.assertRows(
                    "SELECT bool_and(abs(extract(epoch FROM now() - sealed_at)) < 60)"
                            + " FROM audit.checkpoint",
                    "t");
        }
    }

    /** A replica with a clock of its own, and a tenant that trusts an issuer. */
    private record Place(
            TestDatabase database, IssuerStandIn issuer, Shifted clock, RunningBroker broker)
            implements AutoCloseable {
        static Place open() {
            TestDatabase database = TestDatabase.migrated();
            IssuerStandIn issuer = IssuerStandIn.start();
            database.admin(World.tenant(issuer.url(), "http://127.0.0.1:1"));
            Shifted clock = new Shifted();
            return new Place(database, issuer, clock, RunningBroker.on(database, clock));
        }

        String token(long iat, long nbf, long exp) {
            long now = Instant.now().getEpochSecond();
            return issuer.sign(
                    Map.of(
                            "sub", World.SUBJECT,
                            "aud", World.AUDIENCE,
                            "iat", now + iat,
                            "nbf", now + nbf,
                            "exp", now + exp));
        }

        String mint(String token) {
            return broker.mint(token, "api").verdict().strip();
        }

        @Override
        public void close() {
            broker.close();
            issuer.close();
            database.close();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-60, 60})
    void a_clock_that_goes_wrong_refuses_mints_and_lists_at_once_whoever_asks(long seconds) {
        try (Place place = Place.open()) {
            String token = place.token(-100, -100, 100);
            assertEquals("200", place.mint(token));
            String before = place.database.value(ROWS);

            place.clock.by = Duration.ofSeconds(seconds);
            for (HttpRequest.Builder request : AllDoors.requests(place.broker.url(), token)) {
                Answer answer = place.broker.send(request);
                assertEquals(503, answer.status(), answer.toString());
            }
            Answer mint = place.broker.mint(token, "api");
            assertEquals("SERVICE_UNAVAILABLE", mint.at("/error"));
            assertEquals("5", mint.at("/retryAfter"));
            assertTrue(mint.at("/message").contains("this replica's clock is"), mint.toString());
            assertEquals(before, place.database.value(ROWS));
        }
    }

    @Test
    void a_clock_that_is_put_right_makes_its_replica_ready_again() {
        try (Place place = Place.open()) {
            String token = place.token(-100, -100, 1_000);
            place.clock.by = Duration.ofMinutes(10);
            Eventually.holds(() -> place.broker.get("/health").status() == 503);
            assertEquals("503 SERVICE_UNAVAILABLE", place.mint(token));
            place.clock.by = Duration.ofSeconds(-5);
            Eventually.holds(() -> place.broker.get("/health").status() == 200);
            assertEquals("200", place.mint(token));
        }
    }

    /** Within the 30 s that clocks may differ. */
    @ParameterizedTest
    @CsvSource({
        "-25, -100, -100, -10, 401 UNAUTHORIZED token_expired",
        " 25, -100,   10, 100, 401 INVALID_TOKEN token_not_yet_valid",
        " 25,   70, -100, 100, 401 INVALID_TOKEN token_not_yet_valid",
        "-25, -100, -100, 100, 200",
        " 25, -100, -100, 100, 200",
    })
    void a_token_begins_by_the_earlier_clock_and_ends_by_the_later(
            long ahead, long iat, long nbf, long exp, String verdict) {
        try (Place place = Place.open()) {
            place.clock.by = Duration.ofSeconds(ahead);

            assertEquals(verdict, place.mint(place.token(iat, nbf, exp)));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-25, valid_until = now() - interval '10 s'",
        "25, valid_from = now() + interval '10 s'"
    })
    void a_grant_begins_by_the_earlier_clock_and_ends_by_the_later(long ahead, String window) {
        try (Place place = Place.open()) {
            place.clock.by = Duration.ofSeconds(ahead);
            assertEquals("200", place.mint(place.token(-100, -100, 100)));

            place.database.admin("UPDATE broker.subject_grant SET " + window);

            assertEquals("403 FORBIDDEN", place.mint(place.token(-100, -100, 100)));
        }
    }
}
