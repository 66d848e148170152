package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Two replicas, one of whose clocks is wrong, and subjects that are blocked. */
class BlockedSubjectsTest {
    private static final InstantSource AHEAD =
            () -> InstantSource.system().instant().plusSeconds(20);

    /** Rows of the subject that were intended behind these heads of the chains, and obtained. */
    private static final String MINTED_BEHIND =
            """
            SELECT count(*) FROM audit.event AS r
              JOIN audit.event AS o ON o.mint_id = r.mint_id AND o.kind IN ('issued', 'withheld')
             WHERE r.kind = 'requested' AND r.subject = 'ci:main'
               AND r.seq > coalesce((SELECT max(h.seq) FROM head AS h WHERE h.chain = r.chain), 0)
            """;

    private static World world;
    private static RunningBroker second;
    private static List<RunningBroker> replicas;

    /** An attempt to mint, and whether the block had been committed before it began. */
    private record Attempt(boolean afterTheBlock, int status) {}

    @BeforeAll
    static void start() {
        world = new World(Map.of("CATALOG_MAX_STALENESS", "PT1H"));
        second = RunningBroker.on(world.database(), AHEAD);
        replicas = List.of(world.broker(), second);
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
                VALUES ('acme', 'ci', 'ci:*', 'glob', 'api')
                """);
        world.database()
                .runAsSuperuser(
                        "CREATE TABLE head (chain text, seq bigint);"
                                + " GRANT SELECT ON head TO PUBLIC");
    }

    @AfterAll
    static void stop() {
        second.close();
        world.close();
    }

    @AfterEach
    void lift() {
        world.admin("DELETE FROM broker.blocked_subject");
        replicas.forEach(replica -> Eventually.holds(() -> list(replica) == 200));
    }

    private static int list(RunningBroker replica) {
        return replica.keys(world.token()).status();
    }

    private static void block(String row) {
        world.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, match, reason, until) VALUES "
                        + row);
    }

    private static String token(String subject) {
        return world.issuer().sign(subject, World.AUDIENCE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "('acme', 'ci:main', 'exact', 'x', NULL)",
                "('acme', 'ci:ma*', 'glob', 'x', NULL)",
                "(NULL, 'ci:main', 'exact', 'x', NULL)",
                "(NULL, 'ci:ma*', 'glob', 'x', NULL)"
            })
    void under_load_no_replica_starts_a_mint_after_the_commit_of_a_block(String row)
            throws InterruptedException {
        AtomicBoolean blocked = new AtomicBoolean();
        AtomicBoolean enough = new AtomicBoolean();
        AtomicInteger before = new AtomicInteger();
        AtomicInteger others = new AtomicInteger();
        var attempts = new ConcurrentLinkedQueue<Attempt>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int client = 0; client < 8; client++) {
                RunningBroker replica = replicas.get(client % 2);
                clients.execute(() -> {
                    while (!enough.get()) {
                        boolean after = blocked.get();
                        int status = replica.mint(token("ci:main"), "api").status();
                        attempts.add(new Attempt(after, status));
                        (after ? others : before).incrementAndGet();
                    }
                });
            }
            Eventually.holds(() -> before.get() > 50);
            block(row);
            blocked.set(true);
            world.database()
                    .runAsSuperuser(
                            "DELETE FROM head; INSERT INTO head"
                                    + " SELECT chain, max(seq) FROM audit.event GROUP BY chain");
            Eventually.holds(() -> others.get() > 50);
            enough.set(true);
        }
        assertTrue(attempts.contains(new Attempt(false, 200)));
        assertEquals(
                List.of(),
                attempts.stream()
                        .filter(one -> one.afterTheBlock() && one.status() != 403)
                        .toList());
        world.assertRows(MINTED_BEHIND, "0");
        assertEquals(200, second.mint(token("ci:other"), "api").status());
    }

    @Test
    void a_block_that_has_ended_gives_way_to_a_new_one_of_the_same_tenant() {
        block("('acme', 'ci:over', 'exact', 'ended', now() - interval '1 hour')");
        block("(NULL, 'ci:over', 'exact', 'in all', now() - interval '1 hour')");
        block("('acme', 'ci:over', 'exact', 'again', NULL)");

        assertEquals(
                List.of("ended false", "in all true", "again true"),
                world.database()
                        .column(
                                "SELECT reason || ' ' || enabled FROM broker.blocked_subject"
                                        + " ORDER BY id"));
    }

    @Test
    void a_block_ends_by_the_clock_of_the_database_on_every_replica() {
        block("('acme', 'ci:main', 'exact', 'x', now() + interval '5 minutes')");
        block("(NULL, 'ci:late', 'exact', 'x', now() + interval '5 minutes')");
        for (RunningBroker replica : replicas) {
            for (String subject : List.of("ci:main", "ci:late")) {
                assertEquals(403, replica.mint(token(subject), "api").status());
            }
        }
        world.admin("UPDATE broker.blocked_subject SET until = now() + interval '1 second'");
        for (RunningBroker replica : replicas) {
            for (String subject : List.of("ci:main", "ci:late")) {
                Eventually.holds(() -> replica.mint(token(subject), "api").status() == 200);
            }
        }
    }

    @Test
    void a_blocked_subject_is_answered_as_one_without_grants_at_every_door() {
        block("(NULL, 'ci:main', 'exact', 'x', NULL)");
        for (RunningBroker replica : replicas) {
            Eventually.holds(() -> list(replica) == 404);
            Answer blocked = replica.mint(world.token(), "deploy", "api", "nothing");
            Answer stranger = replica.mint(token("stranger"), "deploy", "api", "nothing");
            assertEquals(403, blocked.status());
            assertEquals(alike(stranger).replace("stranger", "ci:main"), alike(blocked));
            assertEquals(
                    alike(replica.keys(token("stranger"))).replace("stranger", "ci:main"),
                    alike(replica.keys(world.token())));
            assertEquals("403 FORBIDDEN ", sdk(replica).verdict());
            assertEquals("invalid_target", exchange(replica).at("/error"));
        }
        world.assertRows(
                "SELECT DISTINCT reason FROM audit.denial WHERE subject = 'ci:main'"
                        + " AND occurred_at > (SELECT created_at FROM broker.blocked_subject)",
                "subject_blocked");
    }

    /** An answer without what tells one request from another. */
    private static String alike(Answer answer) {
        return answer.status()
                + answer.response().body().replaceAll("\"(timestamp|requestId)\":\"[^\"]*\"", "");
    }

    private static Answer sdk(RunningBroker replica) {
        return replica.get("/sdk/aws/deploy", "Authorization", world.token());
    }

    private static Answer exchange(RunningBroker replica) {
        String form =
                "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&audience=api"
                        + "&subject_token_type=urn:ietf:params:oauth:token-type:jwt&subject_token="
                        + world.token();
        return replica.send(
                HttpRequest.newBuilder(replica.url().resolve("/oauth2/token"))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(form)));
    }

    @Test
    void a_list_follows_a_block_and_its_end_within_a_second() {
        for (String tenant : List.of("'acme'", "NULL")) {
            block("(%s, 'ci:main', 'exact', 'x', NULL)".formatted(tenant));
            for (RunningBroker replica : replicas) {
                Eventually.holds(() -> list(replica) == 404);
                for (boolean blocked : List.of(false, true)) {
                    Latency.assertTakes(Duration.ofSeconds(1), () -> followed(replica, blocked));
                }
            }
            lift();
        }
    }

    /** How long a list takes to follow an edit. */
    private static Duration followed(RunningBroker replica, boolean blocked) {
        String edit = "UPDATE broker.blocked_subject SET enabled = ";
        world.admin(edit + !blocked);
        Eventually.holds(() -> list(replica) == (blocked ? 200 : 404));
        world.admin(edit + blocked);
        return Latency.until(() -> list(replica) == (blocked ? 404 : 200));
    }
}
