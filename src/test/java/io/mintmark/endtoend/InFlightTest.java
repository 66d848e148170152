package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** What is on record of a mint during which the client, the provider or the broker goes away. */
@Tag("heavy")
@Execution(ExecutionMode.CONCURRENT)
class InFlightTest {
    private static final String BODY = "{\"keys\":[\"deploy\"]}";

    private final TestDatabase database = TestDatabase.migrated();
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final HttpClient http = HttpClient.newHttpClient();
    private final int port = RunningBroker.freePort();
    private final URI url = URI.create("http://localhost:" + port);

    @TempDir private Path directory;
    private BrokerProcess broker;
    private StsStandIn sts;
    private int asked;

    @BeforeEach
    void start() {
        Map<String, String> environment = new HashMap<>(RunningBroker.environment(database, port));
        environment.put("PROVIDER_TIMEOUT", "PT2S");
        broker = new BrokerProcess(environment, directory);
        sts = StsStandIn.aws(url.toString(), this::keySet);
        database.admin(configuration());
        broker.awaits(() -> mint("warm-up").join() == 200);
        asked = sts.calls().size();
        sts.always(new StsAnswer.Hanging());
    }

    @AfterEach
    void stop() {
        broker.kill();
        http.close();
        sts.close();
        issuer.close();
        database.close();
    }

    private String configuration() {
        return """
        INSERT INTO broker.tenant (name) VALUES ('acme');
        INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
        VALUES ('ci', 'acme', '%s', '{mintmark-acme}');
        INSERT INTO broker.access_provider (tenant, name, type, settings)
        VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1", "endpoint": "%s"}');
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
        VALUES ('acme', 'deploy', 'aws', 3600, '{"role_arn": "%s"}');
        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
        VALUES ('acme', 'ci', 'ci:main', 'deploy');
        """
                .formatted(issuer.url(), sts.endpoint(), World.ROLE);
    }

    private String keySet() {
        HttpRequest request = HttpRequest.newBuilder(url.resolve("/.well-known/jwks.json")).build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString()).join().body();
    }

    /** The status of the answer; 0 if there is none. */
    private CompletableFuture<Integer> mint(String requestId) {
        HttpRequest request =
                HttpRequest.newBuilder(url.resolve("/credentials/mint"))
                        .header("Authorization", "Bearer " + token())
                        .header("Content-Type", "application/json")
                        .header("X-Request-ID", requestId)
                        .POST(HttpRequest.BodyPublishers.ofString(BODY))
                        .build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.discarding())
                .handle((answer, failure) -> failure == null ? answer.statusCode() : 0);
    }

    private String token() {
        return issuer.sign("ci:main", "mintmark-acme");
    }

    private List<String> audited(String requestId) {
        return database.column(
                """
                SELECT concat_ws(' ', kind, reason) FROM audit.event
                 WHERE request_id = '%s'
                   AND mint_id NOT IN (SELECT mint_id FROM audit.event WHERE reason = 'decided_again')
                 ORDER BY step
                """
                        .formatted(requestId));
    }

    private void providerIsAsked() {
        Eventually.holds(() -> sts.calls().size() > asked);
    }

    @Test
    void a_mint_in_flight_when_the_broker_is_killed_shows_until_when_a_credential_may_exist() {
        CompletableFuture<Integer> answer = mint("killed");
        providerIsAsked();
        broker.kill();
        assertEquals(0, answer.join());
        assertEquals(List.of("requested"), audited("killed"));
        database.assertRows(
                """
                SELECT credential_may_exist_until
                       BETWEEN requested_at + interval '1 hour' AND requested_at + interval '62 minutes'
                  FROM audit.unresolved WHERE request_id = 'killed'
                """,
                "t");
        database.assertRows(
                "SELECT outcome FROM audit.active_credential WHERE request_id = 'killed'",
                "unresolved");
        assertEquals(0, verify());
        broker.startAgain();
        broker.awaits(() -> mint("afterwards").join() == 500);
        assertEquals(List.of("requested"), audited("killed"));
        assertEquals(List.of("requested", "failed provider_timeout"), audited("afterwards"));
    }

    @Test
    void a_mint_in_flight_when_the_broker_is_told_to_stop_is_finished_and_recorded() {
        CompletableFuture<Integer> answer = mint("stopped");
        providerIsAsked();
        Thread.ofVirtual().start(broker::stop);
        assertEquals(500, answer.join());
        assertEquals(List.of("requested", "failed provider_timeout"), audited("stopped"));
        database.assertRows("SELECT mint_id FROM audit.unresolved");
        assertEquals(0, verify());
    }

    @Test
    void a_mint_whose_client_hangs_up_while_the_provider_hangs_has_an_outcome() throws IOException {
        String request =
                """
                POST /credentials/mint HTTP/1.1\r
                Host: localhost\r
                Content-Type: application/json\r
                X-Request-ID: hung-up\r
                Authorization: Bearer %s\r
                Content-Length: %d\r
                \r
                %s\
                """
                        .formatted(token(), BODY.length(), BODY);
        try (Socket socket = new Socket("localhost", port)) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            providerIsAsked();
            socket.setSoLinger(true, 0);
        }
        Eventually.holds(
                () -> audited("hung-up").equals(List.of("requested", "failed provider_timeout")));
        database.assertRows(
                "SELECT concat_ws(' ', outcome, reason) FROM audit.active_credential"
                        + " WHERE request_id = 'hung-up'",
                "failed provider_timeout");
    }

    private int verify() {
        Map<String, String> environment = new HashMap<>(RunningBroker.environment(database, 1));
        environment.put("DATABASE_USERNAME", Who.AUDITOR.login());
        assertTrue(broker.printed().stream().anyMatch(line -> line.contains("\"checkpoint\"")));
        return new Commands(environment, directory).execute("audit", "verify");
    }
}
