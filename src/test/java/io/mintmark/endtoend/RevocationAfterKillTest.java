package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.webhook.WebhookStandIn;
import io.mintmark.provider.webhook.WebhookStandIn.Act;
import io.mintmark.provider.webhook.WebhookStandIn.Call;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A broker is killed while it mints or ends, and the next one ends what the first left behind. */
@Tag("heavy")
@Execution(ExecutionMode.CONCURRENT)
class RevocationAfterKillTest {

    @TempDir private Path directory;
    private final TestDatabase database = TestDatabase.migrated();
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private Map<String, String> environment = Map.of();
    private BrokerProcess broker;
    private WebhookStandIn service;

    @BeforeEach
    void start() {
        environment = new HashMap<>(RunningBroker.environment(database, RunningBroker.freePort()));
        environment.put("DATABASE_MIGRATE", "false");
        broker = new BrokerProcess(environment, directory);
        service =
                new WebhookStandIn(
                        String.valueOf(environment.get("BROKER_URL")),
                        () -> get("/.well-known/jwks.json"));
        database.run(
                Who.ADMIN,
                World.tenant(issuer.url(), service.url())
                        + """
                        INSERT INTO broker.access_provider (tenant, name, type, settings)
                        VALUES ('acme', 'apps', 'webhook', '{"endpoint": "%s", "fields": ["APP_PASSWORD"]}');
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        VALUES ('acme', 'app', 'apps', 60, '{"target": "a"}');
                        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                        VALUES ('acme', 'ci', 'ci:main', 'app');
                        """
                                .formatted(service.url()));
        broker.awaits(this::serves);
    }

    @AfterEach
    void stop() {
        broker.kill();
        service.close();
        issuer.close();
        http.close();
        database.close();
    }

    private boolean serves() {
        try {
            return get("/.well-known/jwks.json").contains("keys");
        } catch (IllegalStateException e) {
            return false;
        }
    }

    private String get(String path) {
        return send(HttpRequest.newBuilder(uri(path)).GET());
    }

    private URI uri(String path) {
        return URI.create(environment.get("BROKER_URL") + path);
    }

    private String send(HttpRequest.Builder request) {
        try {
            return http.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private HttpRequest.Builder mint() {
        return HttpRequest.newBuilder(uri("/credentials/mint"))
                .header("Authorization", "Bearer " + issuer.sign("ci:main", World.AUDIENCE))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"keys\":[\"app\"]}"));
    }

    private List<String> methods() {
        return service.calls().stream().map(Call::method).toList();
    }

    /** Mints with a service that doesn't answer, and kills the broker meanwhile. */
    private void killDuringMint(Act act) {
        service.next(act);
        var _ = http.sendAsync(mint().build(), HttpResponse.BodyHandlers.ofString());
        Eventually.holds(() -> methods().equals(List.of("PUT")));
        broker.kill();
        assertEquals(
                List.of("requested"), database.column("SELECT kind FROM audit.event ORDER BY 1"));
        timePasses();
        broker.startAgain();
    }

    /** What is open becomes due, and claims of the dead end. */
    private void timePasses() {
        database.runAsSuperuser(
                "UPDATE runtime.ending SET due = now(), next_try = now(), claimed_until = now()");
    }

    private void assertEnded(String how) throws IOException {
        Eventually.holds(
                BrokerProcess.START,
                () -> database.column("SELECT mint_id FROM runtime.ending").isEmpty());
        assertEquals(
                List.of(how), database.column("SELECT reason FROM audit.event WHERE step = 3"));
        assertTrue(service.live().isEmpty());
        assertEquals(List.of(), database.column("SELECT mint_id FROM audit.unended"));
        environment.put("DATABASE_USERNAME", Who.AUDITOR.login());
        assertEquals(0, new Commands(environment, Path.of("")).execute("audit", "verify"));
    }

    @Test
    void before_the_service_made_anything() throws Exception {
        killDuringMint(service.silent());
        assertEnded("undone");
    }

    @Test
    void after_the_service_made_a_credential_and_before_it_was_issued() throws Exception {
        killDuringMint(service.silentlyMaking());
        assertEnded("undone");
        assertEquals(List.of("PUT", "DELETE"), methods());
    }

    @Test
    void while_it_is_ended() throws Exception {
        assertTrue(send(mint()).contains("APP_PASSWORD"));
        service.next(service.silent());
        timePasses();
        Eventually.holds(() -> methods().equals(List.of("PUT", "DELETE")));
        broker.kill();
        assertEquals(1, service.live().size());
        timePasses();
        broker.startAgain();
        assertEnded("over");
        assertEquals(List.of("PUT", "DELETE", "DELETE"), methods());
    }
}
