package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A tenant admin who writes rows at all bounds, edits them and mints, against a process with 256
 * MiB of heap and the launcher's options.
 */
@Tag("heavy")
@EnabledOnOs(OS.LINUX)
class HugeTenantTest {
    private static final int MINTS = 50;
    private static final int CLIENTS = 8;

    /** Of the quarter of the heap that tenants may take, and what a broker takes without them. */
    private static final long MOST_HEAP = 160L << 20;

    /** Elements up to the limit of values, each of which takes many times its text. */
    private static final String MOST_VALUES =
            "(SELECT jsonb_agg('{}'::jsonb) FROM generate_series(1, 250))";

    private final TestDatabase database = TestDatabase.migrated();
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI url = URI.create("http://localhost:" + RunningBroker.freePort());
    private final AtomicBoolean attacking = new AtomicBoolean(true);
    private final AtomicInteger unavailable = new AtomicInteger();
    private BrokerProcess broker;

    @TempDir private Path directory;

    @BeforeEach
    void start() {
        database.admin(World.tenant(issuer.url(), issuer.url()));
        database.admin(tenant("huge", issuer.url()));
        database.admin(
                "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('huge', '%s')"
                        .formatted(Who.TENANT_ADMIN.login()));
        broker =
                new BrokerProcess(
                        List.of("-XX:+ExitOnOutOfMemoryError", "io.mintmark.Main"),
                        RunningBroker.environment(database, url.getPort()),
                        directory);
        broker.awaits(this::isServed);
    }

    @AfterEach
    void stop() {
        broker.kill();
        http.close();
        issuer.close();
        database.close();
    }

    /** A tenant with an identity provider whose audience is its name. */
    static String tenant(String name, String issuer) {
        return """
        INSERT INTO broker.tenant (name) VALUES ('%1$s');
        INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
        VALUES ('%1$s', '%1$s', '%2$s', '{%1$s}');
        INSERT INTO broker.access_provider (tenant, name, type, settings)
        VALUES ('%1$s', 'own', 'jwt', '{}');
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
        VALUES ('%1$s', 'api', 'own', 600, '{"audience": "https://api.example.com"}');
        """
                .formatted(name, issuer);
    }

    /** As many keys as a tenant may have, each with as many values as it may have. */
    static String keys(String tenant) {
        return """
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
        SELECT '%s', 'k' || n, 'own', 600,
               jsonb_build_object('audience', 'https://api.example.com',
                                  'claims', jsonb_build_object('t', repeat('x', 14000), 'c', %s))
          FROM generate_series(1, 999) AS n
        """
                .formatted(tenant, MOST_VALUES);
    }

    /** As many grants as a subject may have, and as many globs as the tenant may. */
    private static String grants() {
        return """
        INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims)
        SELECT 'huge', 'huge', s.subject, s.match, 'api',
               jsonb_build_object('n', n, 'c', (SELECT jsonb_agg('v' || i) FROM generate_series(1, 250) AS i))
          FROM generate_series(1, 1000) AS n,
               (VALUES ('ci:main', 'exact'), ('ci:*', 'glob')) AS s (subject, match)
        """;
    }

    @Test
    void leaves_other_tenants_their_time_and_the_process_alive() {
        Duration usual = Latency.median(MINTS, this::minted);
        database.run(Who.TENANT_ADMIN, grants());
        database.run(Who.TENANT_ADMIN, keys("huge"));
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            IntStream.range(0, CLIENTS).forEach(client -> threads.execute(() -> attack(client)));
            threads.execute(this::edit);
            try {
                Eventually.holds(() -> unavailable.get() > CLIENTS);
                Latency.assertAtMostTwice(usual, () -> Latency.median(MINTS, this::minted));
            } finally {
                attacking.set(false);
            }
        }
        assertEquals(200, minted().status());
        assertTrue(broker.log().contains("tenant_too_large"), broker.log());
        assertTrue(broker.liveHeap() < MOST_HEAP, broker.liveHeap() + " bytes");
    }

    @Test
    void is_served_again_when_it_has_become_smaller() {
        database.run(Who.TENANT_ADMIN, keys("huge"));
        Eventually.holds(() -> mint("huge", "ci:main").status() == 503);
        database.run(Who.TENANT_ADMIN, "DELETE FROM broker.key WHERE name <> 'api'");
        database.run(
                Who.TENANT_ADMIN,
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('huge', 'huge', 'ci:main', 'api')
                """);
        Eventually.holds(() -> mint("huge", "ci:main").status() == 200);
    }

    /** Half of the clients have grants of their own, half all the same. */
    private void attack(int client) {
        for (int i = 0; attacking.get(); i++) {
            int status = mint("huge", client % 2 == 0 ? "ci:main" : "ci:" + client + i).status();
            assertTrue(status == 503 || status == 403 || status == 200, "status " + status);
            if (status == 503) {
                unavailable.incrementAndGet();
            }
        }
    }

    /** Makes another state, of which nothing is known yet. */
    private void edit() {
        Stream.iterate(0, i -> attacking.get() && i < 200, i -> i + 1)
                .forEach(i ->
                        database.run(
                                Who.TENANT_ADMIN,
                                "UPDATE broker.key SET description = '%d' WHERE name = 'api'"
                                        .formatted(i)));
    }

    private Answer minted() {
        return mint(World.AUDIENCE, World.SUBJECT);
    }

    private boolean isServed() {
        try {
            return minted().status() == 200;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    private Answer mint(String audience, String subject) {
        HttpRequest request =
                HttpRequest.newBuilder(url.resolve("/credentials/mint"))
                        .header("Content-Type", "application/json")
                        .header("Authorization", "Bearer " + issuer.sign(subject, audience))
                        .POST(BodyPublishers.ofString("{\"keys\":[\"api\"]}"))
                        .build();
        return Unchecked.call(() -> new Answer(http.send(request, BodyHandlers.ofString())));
    }
}
