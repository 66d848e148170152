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

/**
 * How soon an admin's edit takes effect on several replicas, one of them behind a pooler that
 * swallows notifications.
 */
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
                                "DATABASE_URL", pooler.url(),
                                "CATALOG_MAX_STALENESS", STALENESS.toString(),
                                "RATE_LIMIT_ENABLED", "false"));
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
    void the_list_of_identity_providers_follows_within_a_second() {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('second', 'acme', 'https://issuer.example', '{x}')
                """);
        for (RunningBroker replica : replicas.subList(0, 2)) {
            Duration took = until(() -> providers(replica).contains("second"));
            assertTrue(took.compareTo(A_SECOND) < 0, took::toString);
        }
        Eventually.holds(() -> providers(deaf).contains("second"));
    }

    private static List<String> providers(RunningBroker replica) {
        return replica.get("/credentials/idp-providers").body().findValuesAsText("name");
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
}
