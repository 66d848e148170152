package io.mintmark.audit.witness;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.Unchecked;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;

/** Answers {@code add-checkpoint} as a witness should not. */
final class WitnessStandIn implements AutoCloseable {
    private final HttpServer server =
            Unchecked.call(() ->
                    HttpServer.create(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicReference<Answering> answering;

    /** The bodies that it was sent. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    /** How it answers. */
    interface Answering {
        void answer(HttpExchange exchange, String request) throws IOException;
    }

    WitnessStandIn(Answering first) {
        this.answering = new AtomicReference<>(first);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    void answers(Answering next) {
        answering.set(next);
    }

    static Answering with(int status, String type, String body) {
        return (exchange, _) -> send(exchange, status, type, body);
    }

    static void send(HttpExchange exchange, int status, String type, String body)
            throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        if (bytes.length > 0) {
            exchange.getResponseBody().write(bytes);
        }
    }

    /** Never, until this is closed. */
    Answering never() {
        return (_, _) -> Unchecked.run(closed::await);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String request =
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            requests.add(request);
            Objects.requireNonNull(answering.get()).answer(exchange, request);
        }
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        threads.shutdown();
    }
}
