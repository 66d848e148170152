package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Replicas whose PostgreSQL is stopped and started again. */
@Tag("heavy")
@EnabledOnOs(OS.LINUX)
@Execution(ExecutionMode.CONCURRENT)
class RestartedDatabaseTest {
    /** Nothing is read again because it is old. */
    private static final Map<String, String> SETTINGS = Map.of("CATALOG_MAX_STALENESS", "PT1H");

    @TempDir private Path directory;

    private OwnServer server;
    private IssuerStandIn issuer;
    private List<RunningBroker> replicas;

    @BeforeEach
    void start() throws IOException {
        server = new OwnServer(directory);
        issuer = IssuerStandIn.start();
        server.run(Files.readString(Path.of("db", "roles.sql")));
        server.run(
                """
                CREATE ROLE test_owner LOGIN PASSWORD '%1$s' IN ROLE mintmark_owner;
                CREATE ROLE test_app LOGIN PASSWORD '%1$s' IN ROLE mintmark_app;
                """
                        .formatted(OwnServer.PASSWORD));
        replicas =
                List.of(
                        RunningBroker.at(server.url(), SETTINGS),
                        RunningBroker.at(server.url(), SETTINGS));
        server.run(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('ci', 'acme', '%s', '{mintmark-acme}');
                INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'own', 'jwt');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'api', 'own', 600, '{"audience": "https://api.example.com"}');
                """
                        .formatted(issuer.url()));
        grant("stays");
        grant("goes");
        for (RunningBroker replica : replicas) {
            Eventually.holds(() -> status(replica, "stays") == 200);
            Eventually.holds(() -> status(replica, "goes") == 200);
            assertEquals(403, status(replica, "comes"));
        }
    }

    @AfterEach
    void stop() {
        replicas.forEach(RunningBroker::close);
        issuer.close();
        server.close();
    }

    private void grant(String subject) {
        server.run(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', '%s', 'api')"
                        .formatted(subject));
    }

    private int status(RunningBroker replica, String subject) {
        return replica.mint(issuer.sign(subject, "mintmark-acme"), "api").status();
    }

    @Test
    void an_edit_right_after_the_start_is_effective_at_once() {
        server.stopImmediately();
        replicas.forEach(replica -> assertEquals(503, status(replica, "goes")));
        server.startAgain();
        server.run("DELETE FROM broker.subject_grant WHERE subject = 'goes'");
        grant("comes");
        for (RunningBroker replica : replicas) {
            Eventually.holds(() -> {
                int status = status(replica, "goes");
                assertNotEquals(200, status);
                return status == 403;
            });
            Eventually.holds(() -> status(replica, "comes") == 200);
        }
    }

    @Test
    void new_grants_are_heard_of_again_within_a_second() {
        server.stopImmediately();
        server.startAgain();
        grant("comes");
        for (RunningBroker replica : replicas) {
            Eventually.holds(() -> status(replica, "comes") == 200);
        }
        AtomicInteger granted = new AtomicInteger();
        for (RunningBroker replica : replicas) {
            Latency.assertTakes(
                    Duration.ofSeconds(1),
                    () -> {
                        String subject = "later:" + granted.incrementAndGet();
                        grant(subject);
                        return Latency.until(() -> status(replica, subject) == 200);
                    });
        }
    }
}
