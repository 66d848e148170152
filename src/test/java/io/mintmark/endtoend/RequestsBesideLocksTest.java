package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.net.http.HttpRequest.BodyPublishers;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/** Requests for access of a tenant that somebody edits wait, and keep nobody else's waiting. */
class RequestsBesideLocksTest {
    /** Sessions that wait for a lock. */
    private static final String WAITING =
            """
            SELECT l.pid FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
             WHERE NOT l.granted AND a.datname = current_database()
            """;

    @AutoClose private final World world = new World();
    @AutoClose private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private void tenant(String name) {
        world.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('%2$s');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('%2$s-ci', '%2$s', '%1$s', '{mintmark-%2$s}');
                INSERT INTO broker.access_provider (tenant, name, type) VALUES ('%2$s', 'own', 'jwt');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('%2$s', 'spare', 'own', 600, '{"audience": "https://%2$s.example.com"}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, approvals, break_glass)
                VALUES ('%2$s', 'spare', '%2$s-ci', 'ci:*', 'glob', 7200, 0, true)
                """
                        .formatted(world.issuer().url(), name));
    }

    private Answer ask(String tenant, String subject) {
        return world.broker()
                .send(
                        world.broker()
                                .request("/access-requests")
                                .header(
                                        "Authorization",
                                        "Bearer "
                                                + world.issuer()
                                                        .sign(subject, "mintmark-" + tenant))
                                .header("Content-Type", "application/json")
                                .POST(
                                        BodyPublishers.ofString(
                                                "{\"keys\":[\"spare\"],\"reason\":\"The export is stuck\",\"seconds\":3600}")));
    }

    /** How long the slowest of some requests takes, each from a subject of its own. */
    private Duration slowestOfThird(int round) {
        return IntStream.range(0, 8)
                .mapToObj(i -> {
                    long began = System.nanoTime();
                    Answer answer = ask("third", "ci:third-%d-%d".formatted(round, i));
                    assertEquals(202, answer.status(), answer::toString);
                    return Duration.ofNanos(System.nanoTime() - began);
                })
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    @Test
    void open_edits_of_two_tenants_do_not_delay_a_third() throws Exception {
        List.of("one", "two", "third").forEach(this::tenant);
        assertEquals(202, ask("third", "ci:warm").status());
        try (Connection open = world.database().connect(Who.ADMIN);
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute(
                    "UPDATE broker.tenant SET display_name = 'x' WHERE name IN ('one', 'two')");
            List<Future<Answer>> waiting = new ArrayList<>();
            Latency.assertTakes(
                    Duration.ofSeconds(1),
                    () -> {
                        for (int i = 0; i < 8; i++) {
                            String subject = "ci:" + i;
                            waiting.add(threads.submit(() -> ask("one", subject)));
                            waiting.add(threads.submit(() -> ask("two", subject)));
                        }
                        return slowestOfThird(waiting.size());
                    });
            for (Future<Answer> one : waiting) {
                Answer answer = one.get();
                assertEquals(503, answer.status(), answer::toString);
                assertEquals("5", answer.header("Retry-After"));
            }
            open.rollback();
        }
        assertEquals(202, ask("one", "ci:0").status());
    }

    @Test
    void a_short_edit_is_waited_for() throws Exception {
        tenant("one");
        try (Connection open = world.database().connect(Who.ADMIN);
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute("UPDATE broker.tenant SET display_name = 'x' WHERE name = 'one'");
            List<Future<Answer>> asked = new ArrayList<>();
            Eventually.holds(() -> {
                // a request waits for two seconds, in which a loaded machine may not look
                if (asked.stream().allMatch(Future::isDone)) {
                    asked.add(threads.submit(() -> ask("one", "ci:0")));
                }
                return !world.column(WAITING).isEmpty();
            });
            open.commit();
            assertEquals(202, asked.getLast().get().status());
        }
    }
}
