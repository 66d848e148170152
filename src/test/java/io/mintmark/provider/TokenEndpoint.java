package io.mintmark.provider;

import com.fasterxml.jackson.databind.ObjectMapper;
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

/** A token endpoint on a loopback port. What it says is up to the rules, or to an order of once. */
public final class TokenEndpoint implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What a server gives, or why it doesn't. */
    public interface Rules {
        Map<String, Object> answer(OAuthCall call) throws OAuthRefusal;
    }

    /** What is done with a call instead. */
    public interface Order {
        void with(HttpExchange exchange, OAuthCall call) throws IOException, OAuthRefusal;
    }

    private final HttpServer server;
    private final Rules rules;
    private final boolean json;
    private final Queue<Order> orders = new ConcurrentLinkedQueue<>();
    private final List<OAuthCall> calls = new CopyOnWriteArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    public TokenEndpoint(Rules rules) {
        this(rules, false);
    }

    /**
     * @param json whether requests must be JSON objects instead of forms
     */
    public TokenEndpoint(Rules rules, boolean json) {
        this.rules = rules;
        this.json = json;
        server = LoopbackHttp.serving(0, this::handle);
    }

    /** An answer of any kind. */
    public static Order saying(int status, String body) {
        return (exchange, _) -> send(exchange, status, body.replace('\'', '"'));
    }

    /** An OAuth error. */
    public static Order refusing(int status, String error, String description) {
        return (_, _) -> {
            throw new OAuthRefusal(status, error, description);
        };
    }

    /** A redirect that keeps method and body. */
    public static Order redirecting(String to) {
        return (exchange, _) -> {
            exchange.getResponseHeaders().set("Location", to);
            send(exchange, 307, "");
        };
    }

    /** An error that quotes a parameter. */
    public static Order quoting(String parameter) {
        return (_, call) -> {
            throw OAuthRefusal.invalid("can't read " + call.required(parameter));
        };
    }

    /** Where it is: {@code http://127.0.0.1:port}. */
    public String origin() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** What is done with each of the next calls; then it goes on as usual. */
    public void next(Order... some) {
        orders.addAll(List.of(some));
    }

    /** No answer until it is closed. */
    public Order hanging() {
        return (_, _) -> {
            Unchecked.await(closed);
        };
    }

    /** Every call so far that was a form, refused ones too. */
    public List<OAuthCall> calls() {
        return List.copyOf(calls);
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            respond(exchange);
        }
    }

    private void respond(HttpExchange exchange) throws IOException {
        try {
            OAuthCall call = OAuthCall.read(exchange, json);
            calls.add(call);
            Order order = orders.poll();
            if (order == null) {
                send(exchange, 200, JSON.writeValueAsString(rules.answer(call)));
            } else {
                order.with(exchange, call);
            }
        } catch (OAuthRefusal refusal) {
            send(
                    exchange,
                    refusal.status(),
                    JSON.writeValueAsString(
                            Map.of(
                                    "error", refusal.error(),
                                    "error_description", refusal.description())));
        }
    }

    private static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
