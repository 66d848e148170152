package io.mintmark.provider.webhook;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.JWTParser;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;

import io.mintmark.Unchecked;
import io.mintmark.provider.PublishedKeys;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.text.ParseException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;

import javax.net.ssl.SSLContext;

/**
 * A service of the tenant acme that checks everything it is sent, but for the faults it is given.
 */
public final class WebhookStandIn implements AutoCloseable {
    private static final String BASE = "/mintmark";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<String> MEMBERS =
            Set.of(
                    "version",
                    "tenant",
                    "provider",
                    "key",
                    "target",
                    "mintId",
                    "duration",
                    "deadline",
                    "parameters");

    /** What a service can get wrong. */
    public enum Fault {
        ANY_SIGNATURE,
        ANY_ISSUER,
        ANY_AUDIENCE,
        ANY_TENANT,
        ANY_TIME,
        NOT_YET_VALID,
        ANY_METHOD,
        ANY_ADDRESS,
        ANY_BODY,
        NO_TOKEN,
        SECOND_CREDENTIAL,
        SECOND_ERROR,
        REVIVES,
        FIXED_LIFETIME,
        NO_EXPIRY,
        DELETES_ONCE,
        OTHER_VALUES
    }

    /** What is done with one request instead of the usual. */
    public interface Act {
        void with(HttpExchange exchange, byte[] body) throws IOException, Refusal;
    }

    /** A call, as far as tests look at it. */
    public record Call(String method, String path, String authorization, String body) {}

    /** An error that is answered. */
    public static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;
        private final int status;

        Refusal(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    private final String issuer;
    private final PublishedKeys keys;
    private final HttpServer server;
    private final boolean encrypted;
    private final Set<Fault> faults = new HashSet<>();
    private final Map<String, ObjectNode> made = new ConcurrentHashMap<>();
    private final Set<String> ended = ConcurrentHashMap.newKeySet();
    private final Queue<Act> acts = new ConcurrentLinkedQueue<>();
    private final List<Call> calls = new CopyOnWriteArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    public WebhookStandIn(String issuer, Supplier<String> keySet) {
        this(issuer, keySet, Optional.empty(), false);
    }

    /**
     * @param tls of the server; plain HTTP without it
     * @param wantsCertificate whether clients must present a certificate
     */
    public WebhookStandIn(
            String issuer,
            Supplier<String> keySet,
            Optional<SSLContext> tls,
            boolean wantsCertificate) {
        this.issuer = issuer;
        this.keys = new PublishedKeys(keySet);
        this.encrypted = tls.isPresent();
        var address = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);
        server =
                Unchecked.call(() ->
                        tls.isPresent()
                                ? https(address, tls.get(), wantsCertificate)
                                : HttpServer.create(address, 0));
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    private static HttpServer https(InetSocketAddress address, SSLContext tls, boolean wants)
            throws IOException {
        HttpsServer server = HttpsServer.create(address, 0);
        server.setHttpsConfigurator(
                new HttpsConfigurator(tls) {
                    @Override
                    public void configure(HttpsParameters parameters) {
                        var own = tls.getDefaultSSLParameters();
                        own.setNeedClientAuth(wants);
                        parameters.setSSLParameters(own);
                    }
                });
        return server;
    }

    public WebhookStandIn having(Fault... some) {
        faults.addAll(Arrays.asList(some));
        return this;
    }

    private String origin() {
        return (encrypted ? "https" : "http")
                + "://%s:%d"
                        .formatted(
                                encrypted ? "localhost" : "127.0.0.1",
                                server.getAddress().getPort());
    }

    public String url() {
        return origin() + BASE;
    }

    /** The mint ids of what was made and not ended. */
    public Set<String> live() {
        return Set.copyOf(made.keySet());
    }

    /** Lets a mint id be used again, which no broker does. */
    void forget() {
        ended.clear();
    }

    public List<Call> calls() {
        return List.copyOf(calls);
    }

    public void next(Act... some) {
        acts.addAll(Arrays.asList(some));
    }

    /** The usual, with another answer. */
    Act changing(Consumer<ObjectNode> change) {
        return (exchange, body) -> {
            ObjectNode answer = put(exchange, body).deepCopy();
            change.accept(answer);
            send(exchange, 201, answer.toString());
        };
    }

    /** Makes nothing and never answers. */
    public Act silent() {
        return hanging();
    }

    /** Makes what is asked for, and never answers. */
    public Act silentlyMaking() {
        return (exchange, body) -> {
            put(exchange, body);
            hanging().with(exchange, body);
        };
    }

    /** Does as it is told, and the answer is lost. */
    Act forgettingToAnswer() {
        return (exchange, body) -> {
            put(exchange, body);
            exchange.close();
        };
    }

    public static Act saying(int status, String body, String... headers) {
        return (exchange, _) -> {
            for (int i = 0; i < headers.length; i += 2) {
                exchange.getResponseHeaders().set(headers[i], headers[i + 1]);
            }
            send(exchange, status, body.replace('\'', '"'));
        };
    }

    static Act dropping() {
        return (exchange, _) -> exchange.close();
    }

    Act hanging() {
        return (_, _) -> {
            Unchecked.await(closed);
        };
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            calls.add(
                    new Call(
                            exchange.getRequestMethod(),
                            exchange.getRequestURI().getPath(),
                            authorization == null ? "" : authorization,
                            new String(body, StandardCharsets.UTF_8)));
            try {
                Act act = acts.poll();
                if (act == null) {
                    usual(exchange, body);
                } else {
                    act.with(exchange, body);
                }
            } catch (Refusal e) {
                ObjectNode problem =
                        JSON.createObjectNode()
                                .put("title", "refused")
                                .put("detail", e.getMessage());
                send(exchange, e.status, problem.toString());
            }
        }
    }

    private void usual(HttpExchange exchange, byte[] body) throws IOException, Refusal {
        if (exchange.getRequestMethod().equals("DELETE")) {
            delete(exchange, body);
        } else {
            boolean there = made.containsKey(id(exchange));
            send(exchange, there ? 200 : 201, put(exchange, body).toString());
        }
    }

    private void delete(HttpExchange exchange, byte[] body) throws IOException, Refusal {
        require(verified(exchange, body).getSubject().startsWith("tenant:acme:"), 403, "tenant");
        String id = id(exchange);
        boolean known = made.remove(id) != null;
        if (!known && faults.contains(Fault.DELETES_ONCE)) {
            throw new Refusal(500, "nothing there");
        }
        ended.add(id);
        exchange.sendResponseHeaders(known ? 204 : 404, -1);
    }

    private ObjectNode put(HttpExchange exchange, byte[] body) throws IOException, Refusal {
        JWTClaimsSet claims = verified(exchange, body);
        JsonNode asked = JSON.readTree(body);
        String id = id(exchange);
        Set<String> members = new HashSet<>();
        asked.fieldNames().forEachRemaining(members::add);
        require(
                "application/json".equals(exchange.getRequestHeaders().getFirst("Content-Type")),
                415,
                "media type");
        require(asked.path("version").asInt() == 1, 400, "version");
        require(members.containsAll(MEMBERS), 400, "members");
        require(asked.path("mintId").asText().equals(id), 400, "mint id");
        String subject =
                "tenant:%s:key:%s"
                        .formatted(asked.path("tenant").asText(), asked.path("key").asText());
        require(
                faults.contains(Fault.ANY_TENANT)
                        || (subject.equals(claims.getSubject())
                                && asked.path("tenant").asText().equals("acme")),
                403,
                "tenant");
        require(
                Instant.parse(asked.path("deadline").asText()).isAfter(Instant.now()),
                400,
                "deadline");
        require(faults.contains(Fault.REVIVES) || !ended.contains(id), 410, "ended");
        require(
                !(faults.contains(Fault.SECOND_ERROR) && made.containsKey(id)),
                500,
                "there already");
        if (faults.contains(Fault.SECOND_CREDENTIAL)) {
            made.remove(id);
        }
        return made.computeIfAbsent(
                id, _ -> credential(id, asked.path("duration").asLong(), made.size()));
    }

    private ObjectNode credential(String id, long duration, int count) {
        Instant end =
                Instant.now()
                        .truncatedTo(ChronoUnit.SECONDS)
                        .plusSeconds(faults.contains(Fault.FIXED_LIFETIME) ? 86_400 : duration);
        ObjectNode credential = JSON.createObjectNode();
        credential
                .putObject("values")
                .put("APP_USER", "user-" + count)
                .put(
                        faults.contains(Fault.OTHER_VALUES) ? "APP_SECRET" : "APP_PASSWORD",
                        "pass word\n" + System.nanoTime());
        if (!faults.contains(Fault.NO_EXPIRY)) {
            credential.put("expiresAt", end.toString());
        }
        return credential.put("credentialId", "credential:" + id);
    }

    private JWTClaimsSet verified(HttpExchange exchange, byte[] body) throws Refusal {
        String header = exchange.getRequestHeaders().getFirst("Authorization");
        if (header == null && faults.contains(Fault.NO_TOKEN)) {
            return new JWTClaimsSet.Builder().subject("tenant:acme:key:check-webhook").build();
        }
        require(header != null && header.startsWith("Bearer "), 401, "no token");
        try {
            return verified(exchange, body, header.substring("Bearer ".length()));
        } catch (ParseException | JOSEException | RuntimeException e) {
            throw new Refusal(401, "not a token of the broker's");
        }
    }

    private JWTClaimsSet verified(HttpExchange exchange, byte[] body, String token)
            throws ParseException, JOSEException, Refusal {
        JWTClaimsSet claims =
                faults.contains(Fault.ANY_SIGNATURE)
                        ? JWTParser.parse(token).getJWTClaimsSet()
                        : keys.verified(token).getJWTClaimsSet();
        Instant now = Instant.now();
        sound(Fault.ANY_ISSUER, issuer.equals(claims.getIssuer()), "iss");
        sound(Fault.ANY_AUDIENCE, List.of(origin()).equals(claims.getAudience()), "aud");
        sound(
                Fault.ANY_TIME,
                claims.getExpirationTime() != null
                        && claims.getExpirationTime().toInstant().isAfter(now),
                "exp");
        sound(
                Fault.NOT_YET_VALID,
                claims.getNotBeforeTime() == null
                        || claims.getNotBeforeTime().toInstant().isBefore(now.plusSeconds(30)),
                "nbf");
        sound(
                Fault.ANY_TENANT,
                claims.getSubject() != null && claims.getSubject().startsWith("tenant:acme:"),
                "sub");
        sound(
                Fault.ANY_METHOD,
                exchange.getRequestMethod().equals(claims.getStringClaim("htm")),
                "htm");
        sound(
                Fault.ANY_ADDRESS,
                (origin() + exchange.getRequestURI().getPath())
                        .equals(claims.getStringClaim("htu")),
                "htu");
        sound(Fault.ANY_ADDRESS, id(exchange).equals(claims.getJWTID()), "jti");
        sound(Fault.ANY_BODY, hash(body).equals(claims.getStringClaim("body_sha256")), "body");
        return claims;
    }

    private void sound(Fault fault, boolean fine, String what) throws Refusal {
        require(fine || faults.contains(fault), 401, what);
    }

    private static void require(boolean fine, int status, String what) throws Refusal {
        if (!fine) {
            throw new Refusal(status, what);
        }
    }

    private static String id(HttpExchange exchange) throws Refusal {
        String path = exchange.getRequestURI().getPath();
        require(path.startsWith(BASE + "/"), 404, "path");
        return path.substring(BASE.length() + 1);
    }

    private static String hash(byte[] body) {
        return Unchecked.call(() ->
                Base64.getUrlEncoder()
                        .withoutPadding()
                        .encodeToString(MessageDigest.getInstance("SHA-256").digest(body)));
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
