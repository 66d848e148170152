package io.mintmark.broker.http;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.config.ServerBounds;
import io.mintmark.base.http.request.ClientAddresses;
import io.mintmark.base.http.tls.PortTls;
import io.mintmark.base.limit.ForwardedFor;
import io.mintmark.base.metrics.Meters;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.metrics.Measurements;
import io.mintmark.endtoend.Eventually;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;

/**
 * A server that is configured as the broker's ports are, with routes that read their body, leave
 * it, wait, or answer at length, and which remembers every request that it took for one.
 */
final class GuardedServer implements AutoCloseable {
    static final Instant NOW = Instant.parse("2026-03-04T05:06:07.089Z");
    static final int LENGTHY = 2 * 1024 * 1024;

    private static final Duration LONG = Duration.ofMinutes(1);

    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private final CountDownLatch go = new CountDownLatch(1);
    private final ServerWarnings warnings = new ServerWarnings();
    private final ListenerDefaults defaults;
    private final WebServer server;

    GuardedServer(ServerBounds bounds) {
        this(bounds, System::nanoTime);
    }

    /**
     * @param nanoTime measures clients' time
     */
    GuardedServer(ServerBounds bounds, LongSupplier nanoTime) {
        this(Optional.empty(), bounds, nanoTime);
    }

    /**
     * @param tls without it, plain HTTP
     */
    GuardedServer(Optional<PortTls> tls, ServerBounds bounds, LongSupplier nanoTime) {
        defaults =
                new ListenerDefaults(
                        tls,
                        bounds,
                        Set.of("/health"),
                        new DirectErrors(
                                new Cors(Set.of()),
                                Optional.empty(),
                                Routes.NO_SUCH_PATH,
                                ErrorPage.NONE,
                                InstantSource.fixed(NOW)),
                        nanoTime);
        WebServerConfig.Builder builder =
                WebServer.builder()
                        .featuresDiscoverServices(false)
                        .shutdownHook(false)
                        .shutdownGracePeriod(LONG)
                        .host("127.0.0.1")
                        .port(0)
                        .routing(this::routes);
        defaults.apply(builder);
        server = builder.build().start();
    }

    /** One that waits for its clients longer than any test. */
    static GuardedServer withLongTimeouts() {
        return new GuardedServer(bounds(1024, 1024));
    }

    /** Bounds that no test waits for. */
    static ServerBounds bounds(int connections, int requests) {
        return new ServerBounds(LONG, LONG, LONG, LONG, connections, requests);
    }

    private void routes(HttpRouting.Builder routing) {
        Measurements measurements = new Measurements(new Meters());
        Answers answers =
                new Answers(
                        InstantSource.fixed(NOW),
                        measurements,
                        new ClientAddresses(new ForwardedFor(List.of())),
                        ErrorPage.NONE);
        routing.error(Throwable.class, new Failures(answers, measurements))
                .addFilter((chain, request, _) -> {
                    String path = request.prologue().uriPath().path();
                    requests.add(path);
                    try {
                        chain.proceed();
                    } finally {
                        done.add(path);
                    }
                })
                .get("/ok", (_, response) -> response.send("ok"))
                .get(
                        "/host",
                        (request, response) ->
                                response.send(request.headers().get(HeaderNames.HOST).get()))
                .any("/read", GuardedServer::read)
                .post("/json", GuardedServer::readJson)
                .get("/marked/{mark}", GuardedServer::mark)
                .any("/leave", (_, response) -> response.send("left"))
                .get("/wait", this::await)
                .get("/close", GuardedServer::close)
                .get("/unavailable/{what}", GuardedServer::unavailable)
                .get("/long", (_, response) -> response.send(new byte[LENGTHY]));
    }

    private static void read(ServerRequest request, ServerResponse response) throws IOException {
        try (InputStream body = request.content().inputStream()) {
            response.send("read " + body.readAllBytes().length);
        }
    }

    private static void readJson(ServerRequest request, ServerResponse response) {
        response.send("read " + Bodies.json(request).length);
    }

    private static void mark(ServerRequest request, ServerResponse response) {
        response.send(request.path().pathParameters().get("mark"));
    }

    private void await(ServerRequest request, ServerResponse response) throws InterruptedException {
        go.await();
        response.send("waited");
    }

    private static void close(ServerRequest request, ServerResponse response) {
        response.header("Connection", "Close").send("bye");
    }

    private static void unavailable(ServerRequest request, ServerResponse response) {
        throw new Unavailable(
                request.path().pathParameters().get("what") + " is away.", Duration.ofSeconds(1));
    }

    /** Lets the requests go on that wait. */
    void go() {
        go.countDown();
    }

    /** Begins to stop, and lets requests under way take their time. */
    void closeIdle() {
        defaults.closeIdle();
    }

    int port() {
        return server.port();
    }

    RawClient client() throws IOException {
        return new RawClient(port());
    }

    /** What the server complained of so far, which is then no failure when it stops. */
    List<String> takeWarnings() {
        return warnings.take();
    }

    /** The paths of all requests so far. */
    List<String> requests() {
        return List.copyOf(requests);
    }

    void forgetRequests() {
        requests.clear();
        done.clear();
    }

    /**
     * Waits until a request for this path is done with, answered or not. What ends meanwhile may be
     * an earlier client's, who has gone.
     */
    void awaitDone(String path) {
        Eventually.holds(() -> done.contains(path));
    }

    /** Lets waiting requests go on, stops, and fails if the server had to complain of a client. */
    @Override
    public void close() {
        go();
        closeIdle();
        server.stop();
        defaults.close();
        warnings.close();
        if (!warnings.all().isEmpty()) {
            throw new AssertionError(warnings.all());
        }
    }
}
