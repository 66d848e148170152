package io.mintmark.provider.web;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.LoopbackHttp;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** A provider on a loopback port that does one thing after the other; the last one for ever. */
final class ScriptedServer implements AutoCloseable {
    /** What is done with one request. */
    interface Act {
        void with(HttpExchange exchange) throws IOException;
    }

    private final Queue<Act> script = new ConcurrentLinkedQueue<>();
    private final List<Long> arrivals = new CopyOnWriteArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final HttpServer server;

    ScriptedServer(int port, Act... acts) {
        script.addAll(List.of(acts));
        server = LoopbackHttp.serving(port, this::handle);
    }

    static ScriptedServer doing(Act... acts) {
        return new ScriptedServer(0, acts);
    }

    static Act saying(int status, String body) {
        return saying(status, body, Map.of());
    }

    static Act saying(int status, String body, Map<String, String> headers) {
        return exchange -> {
            headers.forEach(exchange.getResponseHeaders()::set);
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
        };
    }

    /** The connection breaks without an answer. */
    static Act dropping() {
        return HttpExchange::close;
    }

    /** No answer comes until the server is closed. */
    Act hanging() {
        return _ -> {
            Unchecked.await(closed);
        };
    }

    ScriptedServer then(Act act) {
        script.add(act);
        return this;
    }

    String url() {
        return "http://127.0.0.1:%d/token".formatted(server.getAddress().getPort());
    }

    int calls() {
        return arrivals.size();
    }

    /** When a call came, by {@link System#nanoTime}. */
    long arrival(int call) {
        return arrivals.get(call);
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        arrivals.add(System.nanoTime());
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            Act act = script.size() > 1 ? script.remove() : script.element();
            act.with(exchange);
        }
    }
}
