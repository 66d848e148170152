package io.mintmark.clients;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.base.outbound.LoopbackHttp;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A server on a loopback port that answers as a test says, and keeps what it was asked. */
final class StandIn implements AutoCloseable {
    private static final int NOT_FOUND = 404;

    private final HttpServer server;
    private final Map<String, Deque<Said>> answers = new ConcurrentHashMap<>();
    private final List<Asked> asked = new CopyOnWriteArrayList<>();

    private record Said(int status, String body, Map<String, String> headers) {}

    /** A request. */
    record Asked(String target, Map<String, List<String>> headers, String body, Instant at) {

        Optional<String> header(String name) {
            return headers.entrySet().stream()
                    .filter(header -> header.getKey().equalsIgnoreCase(name))
                    .map(header -> header.getValue().getFirst())
                    .findFirst();
        }
    }

    StandIn() {
        this(0);
    }

    /** On a given port. */
    StandIn(int port) {
        server = LoopbackHttp.serving(port, this::handle);
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** What a path answers: each once, the last for ever. */
    StandIn says(String path, int status, String body) {
        return says(path, status, body, Map.of());
    }

    /** The same with headers. */
    StandIn says(String path, int status, String body, Map<String, String> headers) {
        answers.computeIfAbsent(path, _ -> new ArrayDeque<>()).add(new Said(status, body, headers));
        return this;
    }

    /** What is minted: a JSON object of members. */
    StandIn mints(String key, String members) {
        return says(
                "/credentials/mint",
                200,
                """
                {"credentials": {"%s": %s}, "expiresAt": "2026-01-01T00:10:00Z",
                 "subject": "ci:main", "issuedAt": "2026-01-01T00:00:00Z"}
                """
                        .formatted(key, members));
    }

    /** Every request so far. */
    List<Asked> asked() {
        return List.copyOf(asked);
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body =
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            asked.add(
                    new Asked(
                            exchange.getRequestURI().toString(),
                            exchange.getRequestHeaders(),
                            body,
                            Instant.now()));
            Said said = next(exchange.getRequestURI().getPath());
            said.headers().forEach(exchange.getResponseHeaders()::set);
            byte[] bytes = said.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(said.status(), bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private Said next(String path) {
        Deque<Said> said = answers.getOrDefault(path, new ArrayDeque<>());
        synchronized (said) {
            Said first = said.size() > 1 ? said.poll() : said.peek();
            return first == null ? new Said(NOT_FOUND, "", Map.of()) : first;
        }
    }
}
