package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.sts.StsStandIn;

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
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Grants that are revoked after their intents are on record and before the provider is called:
 * while mints wait for the bulkhead, and while the whole process is stopped. How often the process
 * is stopped under load: {@code -Dpause.rounds=20}.
 */
@Tag("heavy")
@EnabledOnOs(OS.LINUX)
class RevokedMeanwhileTest {
    private static final int ROUNDS = Integer.getInteger("pause.rounds", 2);
    private static final int WAITING = 20;
    private static final int CLIENTS = 16;

    /** What a decision rests on may be a second old. */
    private static final Duration OLD = Duration.ofMillis(1_500);

    private final TestDatabase database = TestDatabase.migrated();
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI url = URI.create("http://localhost:" + RunningBroker.freePort());
    private final StsStandIn sts =
            StsStandIn.aws(url.toString(), () -> send(get("/.well-known/jwks.json")).body());
    private BrokerProcess broker;
    private int decidedAgain;

    @TempDir private Path directory;

    @BeforeEach
    void start() {
        broker = new BrokerProcess(RunningBroker.environment(database, url.getPort()), directory);
        broker.awaits(this::isReady);
        database.admin(World.tenant(issuer.url(), sts.endpoint()));
        Eventually.holds(() -> mint() == 200);
    }

    @AfterEach
    void stop() {
        broker.kill();
        http.close();
        sts.close();
        issuer.close();
        database.close();
    }

    @Test
    void mints_that_wait_for_the_bulkhead_call_no_provider() {
        CountDownLatch gate = new CountDownLatch(1);
        CompletableFuture<Integer> first = held(gate);
        List<CompletableFuture<Integer>> waiting = waiting();
        revoke();
        aWhilePasses();
        gate.countDown();

        assertNothingWasMinted(first, waiting);
    }

    @Test
    void mints_of_a_process_that_is_stopped_call_no_provider() {
        CountDownLatch gate = new CountDownLatch(1);
        CompletableFuture<Integer> first = held(gate);
        List<CompletableFuture<Integer>> waiting = waiting();
        broker.freeze();
        revoke();
        gate.countDown();
        aWhilePasses();
        broker.thaw();

        assertNothingWasMinted(first, waiting);
    }

    @Test
    void a_process_that_is_stopped_at_any_moment_under_load_calls_no_provider() {
        int late = 0;
        for (int round = 0; round < ROUNDS; round++) {
            int before = sts.calls().size();
            List<CompletableFuture<Integer>> clients = clients();
            Eventually.holds(() -> sts.calls().size() > before + 3 * CLIENTS);
            broker.freeze();
            revoke();
            aWhilePasses();
            int called = sts.calls().size();
            broker.thaw();
            clients.forEach(client -> assertEquals(403, client.join()));

            late += sts.calls().size() - called;
            grant();
            Eventually.holds(() -> mint() == 200);
        }
        // a thread may be stopped between its last check and its first byte, which is rare
        assertTrue(late <= 1, late + " late calls");
    }

    /** Mint until one is refused, which is what they return. */
    private List<CompletableFuture<Integer>> clients() {
        return IntStream.range(0, CLIENTS)
                .mapToObj(_ ->
                        async(() ->
                                Stream.generate(this::mint)
                                        .filter(status -> status != 200)
                                        .findFirst()
                                        .orElseThrow()))
                .toList();
    }

    /** A mint whose provider answers when it is let, and which leaves no room for others. */
    private CompletableFuture<Integer> held(CountDownLatch gate) {
        database.admin("UPDATE broker.tenant SET max_calls = 1 WHERE name = 'acme'");
        assertEquals(200, mint());
        decidedAgain = decidedAgain();
        int before = sts.calls().size();
        sts.next(new StsAnswer.Held(gate));
        CompletableFuture<Integer> first = async(this::mint);
        Eventually.holds(() -> sts.calls().size() == before + 1);
        return first;
    }

    /** A mint after an edit is decided on again too. */
    private int decidedAgain() {
        return Integer.parseInt(
                database.value(
                        "SELECT count(*) FROM audit.event WHERE kind = 'failed'"
                                + " AND reason = 'decided_again'"));
    }

    /** Mints whose intents are on record. */
    private List<CompletableFuture<Integer>> waiting() {
        int before = requested();
        List<CompletableFuture<Integer>> waiting =
                IntStream.range(0, WAITING).mapToObj(_ -> async(this::mint)).toList();
        Eventually.holds(() -> requested() == before + WAITING);
        return waiting;
    }

    private void assertNothingWasMinted(
            CompletableFuture<Integer> first, List<CompletableFuture<Integer>> waiting) {
        int called = sts.calls().size();
        assertEquals(200, first.join());
        assertEquals(
                Collections.nCopies(WAITING, 403),
                waiting.stream().map(CompletableFuture::join).toList());
        assertEquals(called, sts.calls().size());
        database.assertRows(
                "SELECT count(*) FROM audit.event WHERE kind = 'denied'"
                        + " AND reason = 'not_granted'",
                Integer.toString(WAITING));
        assertEquals(WAITING, decidedAgain() - decidedAgain);
        assertTrue(database.column("SELECT mint_id FROM audit.unresolved").isEmpty());
    }

    private int requested() {
        return Integer.parseInt(
                database.value("SELECT count(*) FROM audit.event WHERE kind = 'requested'"));
    }

    private void revoke() {
        database.admin("UPDATE broker.subject_grant SET enabled = false");
    }

    private void grant() {
        database.admin("UPDATE broker.subject_grant SET enabled = true");
    }

    private static void aWhilePasses() {
        long end = System.nanoTime() + OLD.toNanos();
        Eventually.holds(() -> System.nanoTime() - end > 0);
    }

    private boolean isReady() {
        try {
            return send(get("/health")).statusCode() == 200;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    private int mint() {
        return send(HttpRequest.newBuilder(url.resolve("/credentials/mint"))
                        .header(
                                "Authorization",
                                "Bearer " + issuer.sign(World.SUBJECT, World.AUDIENCE))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString("{\"keys\":[\"deploy\"]}")))
                .statusCode();
    }

    private HttpRequest.Builder get(String path) {
        return HttpRequest.newBuilder(url.resolve(path));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) {
        return Unchecked.call(
                () -> http.send(request.build(), HttpResponse.BodyHandlers.ofString()));
    }

    private static CompletableFuture<Integer> async(Supplier<Integer> task) {
        return CompletableFuture.supplyAsync(task, Thread::startVirtualThread);
    }
}
