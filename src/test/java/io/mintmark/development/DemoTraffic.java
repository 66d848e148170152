package io.mintmark.development;

import io.mintmark.base.http.request.AccessLog;
import io.mintmark.broker.token.IssuerStandIn;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * What clients of a broker do, done in a few seconds at the first start, so that the console has
 * something to show: real mints and refusals after the {@link DemoHistory}.
 */
final class DemoTraffic {
    static final String AUDIENCE = "mintmark-demo";

    /** What a whole run leaves on record, or more. */
    private static final int ENOUGH = 60;

    /** Held, because {@code java.util.logging} forgets the levels of loggers that nobody holds. */
    private static final Logger ACCESS_LOG = Logger.getLogger(AccessLog.class.getName());

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

    /** Takes some seconds, unless there is enough on record. Its requests aren't logged. */
    void run() {
        if (database.events() >= ENOUGH) {
            return;
        }
        ACCESS_LOG.setLevel(Level.OFF);
        new DemoHistory(database.writer(), issuer.url(), database.grant()).write(Instant.now());
        mintAndBeRefused();
        ACCESS_LOG.setLevel(null);
    }

    private void mintAndBeRefused() {
        try (client) {
            for (int round = 0; round < 4; round++) {
                for (String subject : SUBJECTS) {
                    mint(
                            issuer.sign(subject, AUDIENCE),
                            round % 2 == 0 ? "demo-api" : "demo-bucket");
                }
                mint(issuer.sign("job:nightly", "mintmark-payments"), "ledger");
            }
            mint(issuer.sign("ci:stolen", AUDIENCE), "demo-api");
            new DemoRequests(broker, issuer, client).run();
            mint(issuer.sign("ci:web:main", AUDIENCE), "demo-apy");
            mint(issuer.sign("laptop:eve", AUDIENCE), "demo-bucket");
            mint(issuer.sign("job:hourly", "mintmark-payments"), "ledger");
            mint(issuer.sign(Map.of("sub", "ci:web:main", "aud", AUDIENCE, "exp", 1)), "demo-api");
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
