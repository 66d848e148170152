package io.mintmark.development;

import com.fasterxml.jackson.databind.json.JsonMapper;

import io.mintmark.broker.token.IssuerStandIn;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;

/**
 * What people of the demo tenant asked for, over the broker's own routes: a request that its lead
 * approved and that was used, a break glass that nobody has signed off, and a request that waits;
 * and an agent that mints on behalf of a person.
 */
final class DemoRequests {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String KEY = "demo-production";
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final int MOST_QUESTIONS = 10;

    private final URI broker;
    private final IssuerStandIn issuer;
    private final HttpClient client;

    DemoRequests(URI broker, IssuerStandIn issuer, HttpClient client) {
        this.broker = broker;
        this.issuer = issuer;
        this.client = client;
    }

    void run() throws IOException, InterruptedException {
        String approved = ask("person:rita", "OPS-412: the nightly export is stuck", false);
        send(
                "/access-requests/%s/decision".formatted(approved),
                issuer.sign("lea", DemoConsole.CLIENT),
                Map.of("verdict", "approve", "note", "for the export only"));
        mint("person:rita");
        ask("person:kim", "INC-82: the shop is down, and nobody answers", true);
        mint("person:kim");
        ask("person:max", "OPS-420: the invoices of October have to be sent again", false);
        byAgent();
    }

    private String ask(String subject, String reason, boolean breakGlass)
            throws IOException, InterruptedException {
        HttpResponse<String> answer =
                send(
                        "/access-requests",
                        token(subject),
                        Map.of(
                                "keys",
                                new String[] {KEY},
                                "reason",
                                reason,
                                "seconds",
                                3600,
                                "breakGlass",
                                breakGlass));
        return JSON.readTree(answer.body()).at("/requests/0/id").asText();
    }

    /**
     * Waits for the grant of the request to take effect, so that the demo shows no denial. It asks
     * seldom, because its requests count against the rate limit of the reader's own address.
     */
    private void mint(String subject) throws IOException, InterruptedException {
        HttpRequest keys =
                HttpRequest.newBuilder(broker.resolve("/credentials/keys"))
                        .header("Authorization", "Bearer " + token(subject))
                        .build();
        for (int question = 0; question < MOST_QUESTIONS; question++) {
            if (client.send(keys, BodyHandlers.ofString())
                    .body()
                    .contains("\"name\":\"" + KEY + "\"")) {
                break;
            }
            Thread.sleep(PAUSE);
        }
        send("/credentials/mint", token(subject), Map.of("keys", new String[] {KEY}));
    }

    private void byAgent() throws IOException, InterruptedException {
        client.send(
                posted(
                                "/credentials/mint",
                                token("person:ada"),
                                Map.of("keys", new String[] {"demo-bucket"}))
                        .header("Mintmark-Actor-Token", token("agent:helper"))
                        .build(),
                BodyHandlers.discarding());
    }

    private String token(String subject) {
        return issuer.sign(subject, DemoTraffic.AUDIENCE);
    }

    private HttpResponse<String> send(String path, String token, Map<String, Object> body)
            throws IOException, InterruptedException {
        return client.send(posted(path, token, body).build(), BodyHandlers.ofString());
    }

    private HttpRequest.Builder posted(String path, String token, Map<String, Object> body)
            throws IOException {
        return HttpRequest.newBuilder(broker.resolve(path))
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(JSON.writeValueAsString(body)));
    }
}
