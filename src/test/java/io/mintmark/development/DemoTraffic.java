package io.mintmark.development;

import io.mintmark.token.IssuerStandIn;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What clients of a broker do in a day, done in a few seconds and once: so the console has
 * something to show. All of it is real, refusals too.
 */
final class DemoTraffic {
    /** What a whole run leaves on record, or more. */
    private static final int ENOUGH = 60;

    /** Under the limit of requests for each address. */
    private static final Duration PAUSE = Duration.ofMillis(100);

    private static final List<String> SUBJECTS =
            List.of(
                    "ci:web:main",
                    "ci:web:release",
                    "ci:api:main",
                    "ci:nightly",
                    "ci:docs:main",
                    "ci:api:dependabot");

    private final URI broker;
    private final IssuerStandIn issuer;
    private final DemoDatabase database;
    private final HttpClient client = HttpClient.newHttpClient();

    DemoTraffic(URI broker, IssuerStandIn issuer, DemoDatabase database) {
        this.broker = broker;
        this.issuer = issuer;
        this.database = database;
    }

    /** Takes some seconds, unless there is enough on record. */
    void run() {
        if (database.events() < ENOUGH) {
            mintAndBeRefused();
        }
    }

    private void mintAndBeRefused() {
        try (client) {
            for (int round = 0; round < 4; round++) {
                for (String subject : SUBJECTS) {
                    mint(
                            issuer.sign(subject, "mintmark-demo"),
                            round % 2 == 0 ? "demo-api" : "demo-bucket");
                }
                mint(issuer.sign("job:nightly", "mintmark-payments"), "ledger");
            }
            mint(issuer.sign("ci:web:main", "mintmark-demo"), "demo-apy");
            mint(issuer.sign("laptop:eve", "mintmark-demo"), "demo-bucket");
            mint(issuer.sign("job:hourly", "mintmark-payments"), "ledger");
            mint(
                    issuer.sign(Map.of("sub", "ci:web:main", "aud", "mintmark-demo", "exp", 1)),
                    "demo-api");
        } catch (IOException e) {
            // whoever tries it out may stop at any time
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void mint(String token, String key) throws IOException, InterruptedException {
        client.send(
                HttpRequest.newBuilder(broker.resolve("/credentials/mint"))
                        .header("Authorization", "Bearer " + token)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString("{\"keys\":[\"%s\"]}".formatted(key)))
                        .build(),
                BodyHandlers.discarding());
        Thread.sleep(PAUSE);
    }
}
