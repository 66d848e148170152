package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;

import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.broker.token.TestKey;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** A tenant whose issuer answers late, and strangers with unsigned tokens for that tenant. */
class SlowIssuerTest {
    private static final int CONNECTIONS = 600;

    /** Places for requests that wait for one issuer's keys. */
    private static final int PLACES = 64;

    /** For each document, so that three take longer than any client waits. */
    private static final Duration LATE = Duration.ofMillis(4_700);

    @SuppressWarnings("NullAway.Init") // each test starts its own
    private World world;

    private final IssuerStandIn slow = IssuerStandIn.start();
    private final IssuerStandIn slowToo = IssuerStandIn.start();
    private final CountDownLatch over = new CountDownLatch(1);
    private final HttpClient strangers =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private void start(Map<String, String> settings) {
        world = new World(settings);
        world.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('globex');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('globex-ci', 'globex', '%s', '{mintmark-globex}'),
                       ('globex-too', 'globex', '%s', '{mintmark-globex}');
                """
                        .formatted(slow.url(), slowToo.url()));
        for (IssuerStandIn issuer : List.of(slow, slowToo)) {
            issuer.serve(IssuerStandIn.KEYS, this::answerLate);
            issuer.serve(IssuerStandIn.DISCOVERY, this::answerLate);
        }
        Eventually.holds(() -> mint().status() == 200);
    }

    private void answerLate(HttpExchange exchange) throws IOException {
        try {
            var _ = over.await(LATE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        exchange.sendResponseHeaders(404, -1);
        exchange.close();
    }

    @AfterEach
    void stop() {
        over.countDown();
        strangers.shutdownNow();
        slow.close();
        slowToo.close();
        world.close();
    }

    @Test
    void strangers_of_one_tenant_leave_the_others_their_turns() {
        start(Map.of());
        Duration usual = Latency.median(30, this::mint);

        List<CompletableFuture<HttpResponse<String>>> attack =
                attack(CONNECTIONS, "/credentials/mint", slow);
        Eventually.holds(() -> answered(attack) >= CONNECTIONS - PLACES);

        assertEquals(200, world.broker().get("/health").status());
        Latency.assertAtMostTwice(usual, () -> Latency.median(30, this::mint));
        assertEquals(CONNECTIONS - PLACES, answered(attack));
        for (CompletableFuture<HttpResponse<String>> each : attack) {
            Answer answer = new Answer(each.join());
            assertEquals("503 SERVICE_UNAVAILABLE", answer.verdict().strip());
            assertTrue(Integer.parseInt(answer.at("/retryAfter")) >= 1);
        }
    }

    /** 32 KiB for each turn, half of it for one tenant, 4 for each request. */
    @Test
    void a_tenant_with_several_slow_issuers_has_half_of_the_places_for_requests_that_wait() {
        start(Map.of("SERVER_MAX_REQUESTS", "16"));
        List<CompletableFuture<HttpResponse<String>>> first = attack(40, "/credentials/keys", slow);
        List<CompletableFuture<HttpResponse<String>>> second =
                attack(40, "/credentials/keys", slowToo);

        Eventually.holds(() -> answered(first) + answered(second) == 80 - 64);

        assertEquals(200, world.broker().get("/health").status());
        assertEquals(200, mint().status());
        assertEquals(16, answered(first) + answered(second));
    }

    private static long answered(List<CompletableFuture<HttpResponse<String>>> attack) {
        return attack.stream().filter(CompletableFuture::isDone).count();
    }

    private Answer mint() {
        return world.broker().mint(world.token(), "api");
    }

    private List<CompletableFuture<HttpResponse<String>>> attack(
            int connections, String path, IssuerStandIn issuer) {
        HttpRequest.Builder request =
                world.broker()
                        .request(path)
                        .header("Content-Type", "application/json")
                        .header("Authorization", "Bearer " + unsigned(issuer));
        if (path.endsWith("mint")) {
            request.POST(HttpRequest.BodyPublishers.ofString("{\"keys\":[\"api\"]}"));
        }
        return IntStream.range(0, connections)
                .mapToObj(_ ->
                        strangers.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString()))
                .toList();
    }

    /** Nobody's key signed it. */
    private static String unsigned(IssuerStandIn issuer) {
        return TestKey.es256("made-up")
                .sign(
                        "{\"alg\":\"ES256\",\"kid\":\"made-up\"}",
                        "{\"iss\":\"%s\",\"aud\":\"mintmark-globex\"}".formatted(issuer.url()));
    }
}
