package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** What an admin's edit does, with several replicas that have the tenant in their caches. */
class EditsTest {
    private static final Duration A_SECOND = Duration.ofSeconds(1);
    private static final Duration STALENESS = Duration.ofSeconds(1);

    private static final Map<String, String> UNLIMITED = Map.of("RATE_LIMIT_ENABLED", "false");

    private static World world;
    private static DeafProxy pooler;
    private static List<RunningBroker> replicas;
    private static RunningBroker deaf;

    @BeforeAll
    static void start() throws IOException {
        world = new World(UNLIMITED);
        pooler = new DeafProxy(world.database().url());
        deaf =
                RunningBroker.on(
                        world.database(),
                        Map.of(
                                "DATABASE_URL",
                                pooler.url(),
                                "CATALOG_MAX_STALENESS",
                                STALENESS.toString(),
                                "RATE_LIMIT_ENABLED",
                                "false"));
        replicas = List.of(world.broker(), RunningBroker.on(world.database(), UNLIMITED), deaf);
    }

    @AfterAll
    static void stop() throws IOException {
        replicas.stream().skip(1).forEach(RunningBroker::close);
        pooler.close();
        world.close();
    }

    private static void grant(String subject) {
        world.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', '%s', 'api')"
                        .formatted(subject));
    }

    private static String token(String subject) {
        return world.issuer().sign(subject, World.AUDIENCE);
    }

    private static int status(RunningBroker replica, String subject) {
        return replica.mint(token(subject), "api").status();
    }

    private static Duration until(BooleanSupplier condition) {
        Instant start = Instant.now();
        Eventually.holds(condition);
        return Duration.between(start, Instant.now());
    }

    @Test
    void no_replica_mints_on_a_revoked_grant_from_the_commit_on() {
        for (int round = 0; round < 5; round++) {
            String subject = "revoked:" + round;
            grant(subject);
            for (RunningBroker replica : replicas) {
                Eventually.holds(() -> status(replica, subject) == 200);
            }
            world.admin("DELETE FROM broker.subject_grant WHERE subject = '%s'".formatted(subject));
            for (RunningBroker replica : replicas) {
                assertEquals(403, status(replica, subject));
            }
        }
    }

    @Test
    void no_replica_mints_a_disabled_key_from_the_commit_on() {
        world.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'closing', 'own', 600, '{"audience": "https://c.example.com"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'closer', 'closing');
                """);
        for (RunningBroker replica : replicas) {
            Eventually.holds(() -> replica.mint(token("closer"), "closing").status() == 200);
        }
        world.admin("UPDATE broker.key SET enabled = false WHERE name = 'closing'");
        for (RunningBroker replica : replicas) {
            assertTrue(replica.mint(token("closer"), "closing").status() >= 403);
        }
    }

    @Test
    void a_new_grant_is_followed_within_a_second() {
        for (RunningBroker replica : replicas) {
            assertEquals(403, status(replica, "new"));
        }
        grant("new");
        for (RunningBroker replica : replicas.subList(0, 2)) {
            Duration took = until(() -> status(replica, "new") == 200);
            assertTrue(took.compareTo(A_SECOND) < 0, took::toString);
        }
    }

    @Test
    void a_new_grant_is_followed_within_the_staleness_where_notifications_are_lost() {
        assertEquals(403, status(deaf, "late"));
        grant("late");
        Duration took = until(() -> status(deaf, "late") == 200);
        assertTrue(took.compareTo(STALENESS.plus(A_SECOND)) < 0, took::toString);
    }

    @Test
    void the_list_of_keys_follows_within_a_second() {
        grant("lister");
        RunningBroker replica = replicas.get(1);
        Eventually.holds(() -> replica.keys(token("lister")).status() == 200);
        world.admin("UPDATE broker.subject_grant SET enabled = false WHERE subject = 'lister'");
        Duration took = until(() -> replica.keys(token("lister")).status() != 200);
        assertTrue(took.compareTo(A_SECOND) < 0, took::toString);
    }

    @Test
    void a_database_whose_connections_all_break_does_not_bring_a_revoked_grant_back() {
        grant("broken");
        for (RunningBroker replica : replicas) {
            Eventually.holds(() -> status(replica, "broken") == 200);
        }
        world.database()
                .runAsSuperuser(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                         WHERE datname = current_database() AND pid <> pg_backend_pid()
                        """);
        world.admin("DELETE FROM broker.subject_grant WHERE subject = 'broken'");
        for (RunningBroker replica : replicas) {
            assertTrue(status(replica, "broken") >= 403);
            Eventually.holds(() -> status(replica, "broken") == 403);
        }
    }

    @Test
    void a_bulk_edit_of_others_is_followed_too() {
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', 'bulk:' || n, 'api' FROM generate_series(1, 5000) AS n
                """);
        for (RunningBroker replica : replicas.subList(0, 2)) {
            Duration took = until(() -> status(replica, "bulk:4711") == 200);
            assertTrue(took.compareTo(A_SECOND) < 0, took::toString);
        }
    }
}
