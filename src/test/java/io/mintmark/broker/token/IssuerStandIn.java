package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.LoopbackHttp;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/**
 * An OIDC issuer on a loopback port: publishes keys over HTTP, signs any claims, and misbehaves on
 * request. It starts with one ES256 key at {@code /.well-known/jwks.json}.
 */
public final class IssuerStandIn implements AutoCloseable {
    public static final String KEYS = "/.well-known/jwks.json";
    public static final String DISCOVERY = "/.well-known/openid-configuration";

    private static final JsonMapper JSON = new JsonMapper();
    private static final int FOUND = 302;
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final Duration LIFETIME = Duration.ofMinutes(5);

    private final Map<String, HttpHandler> pages = new ConcurrentHashMap<>();
    private final List<String> fetched = new CopyOnWriteArrayList<>();
    private final CountDownLatch asked = new CountDownLatch(1);
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile List<TestKey> keys = List.of(TestKey.es256("key-1"));
    private HttpServer server;

    private IssuerStandIn(int port) {
        server = listen(port);
        publishKeysAt(KEYS);
    }

    /** An issuer on a free port. */
    public static IssuerStandIn start() {
        return start(0);
    }

    /** An issuer on this port. */
    public static IssuerStandIn start(int port) {
        return new IssuerStandIn(port);
    }

    /** What its tokens have in {@code iss}. */
    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Where to find its keys by default. */
    public KeySource keySource() {
        return new KeySource(url(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** An identity provider that trusts it, with its keys by default. */
    public IdentityProvider provider(String tenant) {
        return provider(tenant, keySource());
    }

    /** An identity provider that trusts it, with keys of this source. */
    public IdentityProvider provider(String tenant, KeySource source) {
        return TestProviders.of(
                tenant + "-ci", tenant, source, Optional.empty(), false, "mintmark");
    }

    /** The key that signs: the first. */
    public TestKey key() {
        return keys.getFirst();
    }

    /** Publishes these keys, and signs with the first. */
    public void use(TestKey... replacements) {
        keys = List.of(replacements);
    }

    /** Replaces all keys with a new one. */
    public void rotate() {
        use(TestKey.es256("key-" + Instant.now().toEpochMilli() + "-" + fetched.size()));
    }

    /** A token of exactly these claims. */
    public String signExactly(Map<String, ?> claims) {
        ObjectNode header = JSON.createObjectNode();
        header.put("alg", key().algorithm()).put("kid", key().id());
        return key().sign(header.toString(), JSON.valueToTree(claims).toString());
    }

    /** A token of these claims, with its issuer's name, issued now, good for five minutes. */
    public String sign(Map<String, ?> claims) {
        Instant now = Instant.now();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("iss", url());
        all.put("iat", now.getEpochSecond());
        all.put("exp", now.plus(LIFETIME).getEpochSecond());
        all.putAll(claims);
        return signExactly(all);
    }

    /** A token for a subject and an audience. */
    public String sign(String subject, String audience) {
        return sign(Map.of("sub", subject, "aud", audience));
    }

    /** The JWK set. */
    public String jwks() {
        return keys.stream()
                .map(TestKey::publicJwk)
                .collect(Collectors.joining(",", "{\"keys\":[", "]}"));
    }

    /** Answers with the keys at a path. */
    public void publishKeysAt(String path) {
        pages.put(path, exchange -> answer(exchange, OK, jwks()));
    }

    /** Has keys only at another path, which the discovery document names. */
    public void publishByDiscovery(String issuer, String jwksUri) {
        pages.remove(KEYS);
        serve(DISCOVERY, "{\"issuer\":\"%s\",\"jwks_uri\":\"%s\"}".formatted(issuer, jwksUri));
    }

    /** Answers with a text at a path. */
    public void serve(String path, String body) {
        pages.put(path, exchange -> answer(exchange, OK, body));
    }

    /** Answers at a path with a handler's whims. */
    public void serve(String path, HttpHandler handler) {
        pages.put(path, handler);
    }

    /** Redirects a path. */
    public void redirect(String path, String location) {
        pages.put(
                path,
                exchange -> {
                    exchange.getResponseHeaders().set("Location", location);
                    answer(exchange, FOUND, "");
                });
    }

    /** Takes requests from now on and doesn't answer. */
    public void hang() {
        gate = new CountDownLatch(1);
    }

    /** Answers all that hang. */
    public void resume() {
        gate.countDown();
    }

    /** Stops listening. */
    public void goDown() {
        server.stop(0);
    }

    /** Listens again on the same port. */
    public void comeBack() {
        server = listen(server.getAddress().getPort());
    }

    /** Waits until a request has come. */
    public void awaitRequest() {
        Unchecked.await(asked);
    }

    /** How many requests came so far, for whatever. */
    public int fetches() {
        return fetched.size();
    }

    /** The paths asked for, in order. */
    public List<String> fetched() {
        return List.copyOf(fetched);
    }

    @Override
    public void close() {
        resume();
        goDown();
    }

    private HttpServer listen(int port) {
        return LoopbackHttp.serving(port, this::handle);
    }

    private void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        fetched.add(path);
        asked.countDown();
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        pages.getOrDefault(path, e -> answer(e, NOT_FOUND, "")).handle(exchange);
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
