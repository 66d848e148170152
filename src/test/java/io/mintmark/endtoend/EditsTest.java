package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How soon an admin's edit takes effect on several replicas, one of them behind a pooler that
 * swallows notifications.
 */
class EditsTest {
    private static final Duration A_SECOND = Duration.ofSeconds(1);
    private static final Duration STALENESS = Duration.ofSeconds(1);

    /** Nothing is read again because it is old. */
    private static final Map<String, String> HEARING = Map.of("CATALOG_MAX_STALENESS", "PT1H");

    /** Subjects that got a grant. */
    private static final AtomicInteger GRANTED = new AtomicInteger();

    private static World world;
    private static DeafProxy pooler;
    private static List<RunningBroker> replicas;
    private static RunningBroker deaf;

    @BeforeAll
    static void start() throws IOException {
        world = new World(HEARING);
        pooler = new DeafProxy(world.database().url());
        deaf =
                RunningBroker.on(
                        world.database(),
                        Map.of(
                                "DATABASE_URL", pooler.url(),
                                "CATALOG_MAX_STALENESS", STALENESS.toString()));
        replicas = List.of(world.broker(), RunningBroker.on(world.database(), HEARING), deaf);
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
        for (RunningBroker replica : replicas.subList(0, 2)) {
            Latency.assertTakes(
                    A_SECOND,
                    () -> {
                        String subject = "new:" + GRANTED.incrementAndGet();
                        assertEquals(403, status(replica, subject));
                        grant(subject);
                        return Latency.until(() -> status(replica, subject) == 200);
                    });
        }
    }

    @Test
    void a_new_grant_is_followed_within_the_staleness_where_notifications_are_lost() {
        Latency.assertTakes(
                STALENESS.plus(A_SECOND),
                () -> {
                    String subject = "late:" + GRANTED.incrementAndGet();
                    assertEquals(403, status(deaf, subject));
                    grant(subject);
                    return Latency.until(() -> status(deaf, subject) == 200);
                });
    }

    @Test
    void the_list_of_identity_providers_follows_within_a_second() {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('second', 'acme', 'https://issuer.example', '{x}')
                """);
        Eventually.holds(() -> providers(deaf).contains("second"));
        for (RunningBroker replica : replicas.subList(0, 2)) {
            Latency.assertTakes(
                    A_SECOND,
                    () -> {
                        list("second", false);
                        Eventually.holds(() -> !providers(replica).contains("second"));
                        list("second", true);
                        return Latency.until(() -> providers(replica).contains("second"));
                    });
        }
    }

    private static void list(String idp, boolean listed) {
        world.admin(
                "UPDATE broker.identity_provider SET enabled = %s WHERE name = '%s'"
                        .formatted(listed, idp));
    }

    private static List<String> providers(RunningBroker replica) {
        return replica.get("/credentials/idp-providers").body().findValuesAsText("name");
    }

    @Test
    void the_list_of_keys_follows_within_a_second() {
        RunningBroker replica = replicas.get(1);
        Latency.assertTakes(
                A_SECOND,
                () -> {
                    String subject = "lister:" + GRANTED.incrementAndGet();
                    grant(subject);
                    Eventually.holds(() -> replica.keys(token(subject)).status() == 200);
                    world.admin(
                            "UPDATE broker.subject_grant SET enabled = false WHERE subject = '%s'"
                                    .formatted(subject));
                    return Latency.until(() -> replica.keys(token(subject)).status() == 404);
                });
    }
}
