package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.postgres.TestDatabase;
import io.mintmark.postgres.TestDatabase.Who;
import io.mintmark.token.IssuerStandIn;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Strangers without a valid token, against a process with 256 MiB of heap that knows a thousand
 * issuers. How many tokens: {@code -Dunsigned.tokens=100000}.
 */
@EnabledOnOs(OS.LINUX)
class UnsignedTokensTest {
    private static final int TOKENS = Integer.getInteger("unsigned.tokens", 10_000);
    private static final int WARM_UP = 1_000;
    private static final int ISSUERS = 1_000;

    /** Twice as many as may wait for the keys of one issuer. */
    private static final int ATTACKERS = 128;

    private static final long MOST_GROWTH = 8 << 20;

    private final Random random = new Random(29);
    private final AtomicInteger answered = new AtomicInteger();
    private final Semaphore attackers = new Semaphore(ATTACKERS);
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private URI mint = URI.create("http://localhost");

    @TempDir private Path directory;

    @Test
    void leave_nothing_behind_and_others_their_time() {
        try (TestDatabase database = TestDatabase.migrated();
                IssuerStandIn issuer = IssuerStandIn.start()) {
            database.run(Who.ADMIN, World.tenant(issuer.url(), issuer.url()));
            database.run(Who.ADMIN, thousandIssuers());
            Map<String, String> environment =
                    RunningBroker.environment(database, RunningBroker.freePort());
            mint = URI.create(environment.get("BROKER_URL") + "/credentials/mint");
            BrokerProcess broker = new BrokerProcess(environment, directory);
            try {
                Eventually.holds(() -> isServed(issuer));
                attack(broker, issuer);
            } finally {
                broker.stop();
            }
        }
    }

    private void attack(BrokerProcess broker, IssuerStandIn issuer) {
        UnsignedTokens tokens = new UnsignedTokens(issuer.url(), World.AUDIENCE, 29);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            send(threads, tokens, WARM_UP);
            Eventually.holds(() -> answered.get() == WARM_UP);
            Duration usual = Latency.median(50, () -> minted(issuer));
            long before = broker.liveHeap();

            CompletableFuture<Void> attack =
                    CompletableFuture.runAsync(
                            () -> send(threads, tokens, TOKENS - WARM_UP), threads);
            Duration attacked = Latency.median(50, () -> minted(issuer));
            attack.join();
            Eventually.holds(() -> answered.get() == TOKENS);

            Latency.assertAtMostTwice(usual, attacked);
            // what the last requests held is let go only once their connections are done
            Eventually.holds(() -> broker.liveHeap() - before < MOST_GROWTH);
            assertEquals(200, minted(issuer).status());
            assertEquals(ISSUERS + 1, listed().body().at("/providers").size());
        }
    }

    private Answer listed() {
        return send(HttpRequest.newBuilder(mint.resolve("idp-providers")).GET());
    }

    /** One in a hundred has keys fetched; the sender doesn't wait for its answer. */
    private void send(ExecutorService threads, UnsignedTokens tokens, int count) {
        for (int i = 0; i < count; i++) {
            if (i % 100 == 0) {
                int number = 1 + random.nextInt(ISSUERS);
                String token = tokens.of(issuer(number), "aud-" + number);
                threads.execute(() -> answer(token));
            } else {
                String token = tokens.next();
                attackers.acquireUninterruptibly();
                threads.execute(() -> {
                    try {
                        answer(token);
                    } finally {
                        attackers.release();
                    }
                });
            }
        }
    }

    private void answer(String token) {
        int status = ask(token).status();
        assertTrue(status == 401 || status == 503 || status == 400, "status " + status);
        answered.incrementAndGet();
    }

    private Answer minted(IssuerStandIn issuer) {
        return ask(issuer.sign(World.SUBJECT, World.AUDIENCE));
    }

    private boolean isServed(IssuerStandIn issuer) {
        try {
            return minted(issuer).status() == 200;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    private Answer ask(String token) {
        String body = "{\"keys\":[\"api\"],\"oidcToken\":\"%s\"}".formatted(inJson(token));
        return send(
                HttpRequest.newBuilder(mint)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body)));
    }

    private Answer send(HttpRequest.Builder request) {
        try {
            return new Answer(http.send(request.build(), BodyHandlers.ofString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static String inJson(String token) {
        return token.replace("\u0000", "\\u0000");
    }

    /** Nobody listens where their keys would be. */
    private static String thousandIssuers() {
        return """
        INSERT INTO broker.tenant (name) SELECT 'other-' || n FROM generate_series(0, 99) AS n;
        INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
        SELECT 'idp-' || n, 'other-' || n % 100, 'http://127.0.0.1:1/' || n,
               ARRAY['aud-' || n, 'aud2-' || n, 'aud3-' || n]
          FROM generate_series(1, 1000) AS n;
        """;
    }

    private static String issuer(int number) {
        return "http://127.0.0.1:1/" + number;
    }
}
