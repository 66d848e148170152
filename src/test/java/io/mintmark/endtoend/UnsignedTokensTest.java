package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.broker.token.LargeKeys;

import org.junit.jupiter.api.Tag;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;

/**
 * Strangers without a valid token, against a process with 256 MiB of heap that knows a thousand
 * issuers. How many tokens, and of how many hostile issuers: {@code -Dunsigned.tokens=100000
 * -Dhostile.issuers=1000}.
 */
@Tag("heavy")
@EnabledOnOs(OS.LINUX)
class UnsignedTokensTest {
    private static final int TOKENS = Integer.getInteger("unsigned.tokens", 10_000);
    private static final int WARM_UP = 1_000;
    private static final int ISSUERS = 1_000;

    /** Twice as many as may wait for the keys of one issuer. */
    private static final int ATTACKERS = 128;

    private static final long MOST_GROWTH = 8 << 20;

    /** What the keys of all issuers may take of a heap of 256 MiB. */
    private static final long KEY_SETS = 8 << 20;

    private static final int HOSTILE_ISSUERS = Integer.getInteger("hostile.issuers", 200);

    /** Twice for the keys of each. */
    private static final int TO_HOSTILE = 2 * HOSTILE_ISSUERS;

    /** For each document; a fetch of three ends after five seconds. */
    private static final Duration LATE = Duration.ofMillis(4_700);

    /** Of a mint, while as many attackers as connect keep all processors busy. */
    private static final Duration LONGEST = Duration.ofSeconds(4);

    private static final Duration TIMEOUT = Eventually.PATIENCE;

    private final Random random = new Random(29);
    private final AtomicInteger answered = new AtomicInteger();
    private final Semaphore attackers = new Semaphore(ATTACKERS);
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private URI mint = URI.create("http://localhost");

    @TempDir private Path directory;

    @Test
    void leave_nothing_behind_and_others_their_time() {
        try (IssuerStandIn issuer = IssuerStandIn.start()) {
            UnsignedTokens tokens = new UnsignedTokens(issuer.url(), World.AUDIENCE, 29);
            run(
                    thousandIssuers(),
                    issuer,
                    broker -> {
                        attack(
                                broker,
                                issuer,
                                MOST_GROWTH,
                                WARM_UP,
                                TOKENS - WARM_UP,
                                (threads, count) -> send(threads, tokens, count));
                        assertEquals(ISSUERS + 1, listed().body().at("/providers").size());
                    });
        }
    }

    /** Every second one publishes as many large keys as an answer may hold; the others are late. */
    @Test
    void of_issuers_with_huge_and_slow_key_sets_leave_others_their_time() {
        CountDownLatch over = new CountDownLatch(1);
        try (IssuerStandIn issuer = IssuerStandIn.start();
                IssuerStandIn hostile = IssuerStandIn.start()) {
            String huge = LargeKeys.set(issuer.key().publicJwk(), LargeKeys.MOST - 1);
            for (int number = 1; number <= HOSTILE_ISSUERS; number++) {
                String path = "/" + number + IssuerStandIn.KEYS;
                if (number % 2 == 0) {
                    hostile.serve(path, huge);
                } else {
                    hostile.serve(path, exchange -> answerLate(exchange, over));
                }
            }
            UnsignedTokens tokens = new UnsignedTokens(issuer.url(), World.AUDIENCE, 29);
            run(
                    hostileIssuers(hostile.url()),
                    issuer,
                    broker ->
                            attack(
                                    broker,
                                    issuer,
                                    MOST_GROWTH + KEY_SETS,
                                    TO_HOSTILE,
                                    TO_HOSTILE,
                                    (threads, count) ->
                                            sendToHostile(threads, tokens, hostile.url(), count)));
        } finally {
            over.countDown();
        }
    }

    private static void answerLate(HttpExchange exchange, CountDownLatch over) throws IOException {
        try {
            var _ = over.await(LATE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        exchange.sendResponseHeaders(404, -1);
        exchange.close();
    }

    private void run(String rows, IssuerStandIn issuer, Consumer<BrokerProcess> test) {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.run(Who.ADMIN, World.tenant(issuer.url(), issuer.url()));
            database.run(Who.ADMIN, rows);
            Map<String, String> environment =
                    RunningBroker.environment(database, RunningBroker.freePort());
            mint = URI.create(environment.get("BROKER_URL") + "/credentials/mint");
            BrokerProcess broker = new BrokerProcess(environment, directory);
            try {
                broker.awaits(() -> isServed(issuer));
                test.accept(broker);
            } finally {
                broker.stop();
            }
        }
    }

    private void attack(
            BrokerProcess broker,
            IssuerStandIn issuer,
            long mostGrowth,
            int warmUp,
            int count,
            ObjIntConsumer<ExecutorService> requests) {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            requests.accept(threads, warmUp);
            Eventually.holds(TIMEOUT, () -> answered.get() == warmUp);
            long before = broker.liveHeap();
            Duration usual = Latency.median(30, () -> minted(issuer));

            CompletableFuture<Void> attack =
                    CompletableFuture.runAsync(() -> requests.accept(threads, count), threads);
            Latency.assertAnswered(LONGEST, usual, attack::isDone, () -> minted(issuer));
            attack.join();
            Eventually.holds(TIMEOUT, () -> answered.get() == warmUp + count);

            // what the last requests held is let go only once their connections are done
            Eventually.holds(() -> broker.liveHeap() - before < mostGrowth);
            assertEquals(200, minted(issuer).status());
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
                attack(threads, token);
            }
        }
    }

    private void sendToHostile(
            ExecutorService threads, UnsignedTokens tokens, String issuers, int count) {
        for (int i = 0; i < count; i++) {
            int number = 1 + i % HOSTILE_ISSUERS;
            attack(threads, tokens.of(issuers + "/" + number, "aud-" + number));
        }
    }

    private void attack(ExecutorService threads, String token) {
        attackers.acquireUninterruptibly();
        threads.execute(() -> {
            try {
                answer(token);
            } finally {
                attackers.release();
            }
        });
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

    /** One of each of a hundred tenants is huge, and one is slow. */
    private static String hostileIssuers(String url) {
        return """
        INSERT INTO broker.tenant (name) SELECT 'other-' || n FROM generate_series(0, 99) AS n;
        INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
        SELECT 'idp-' || n, 'other-' || n / 2 %% 100, '%s/' || n, ARRAY['aud-' || n]
          FROM generate_series(1, %d) AS n;
        """
                .formatted(url, HOSTILE_ISSUERS);
    }

    private static String issuer(int number) {
        return "http://127.0.0.1:1/" + number;
    }
}
