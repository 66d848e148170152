package io.mintmark.provider.githubapp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.LoopbackHttp;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.interfaces.RSAPublicKey;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * GitHub's REST API as far as installation access tokens go, with its rules and messages
 * (docs.github.com, "Create an installation access token for an app", "Revoke an installation
 * access token"). One app, one installation.
 */
public final class GitHubStandIn implements AutoCloseable {
    public static final String CLIENT_ID = "Iv23liABCDEF";
    public static final String INSTALLATION = "12345678";
    static final Map<String, Long> REPOSITORIES = Map.of("shop", 7654321L, "docs", 42L);

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, String> GRANTED =
            Map.of("contents", "write", "issues", "read", "metadata", "read");
    private static final List<String> LEVELS = List.of("read", "write", "admin");

    private static final ObjectNode REPOSITORY = repository();

    private static ObjectNode repository() {
        try (InputStream in =
                Objects.requireNonNull(
                        GitHubStandIn.class.getResourceAsStream("/github/repository.json"))) {
            return (ObjectNode) JSON.readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is done with a call instead of answering it by the rules. */
    public interface Order {
        void with(HttpExchange exchange, GitHubStandIn server) throws IOException;
    }

    /** A call, as far as tests look at it. */
    public record Call(String method, String path, String authorization, String body) {}

    /** An answer by the rules. */
    record Said(int status, String body) {}

    /** An answer that says no. */
    private static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;
        private final int status;

        Refusal(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    private final HttpServer server;
    private final RSAPublicKey appKey;
    private final String base;
    private final Queue<Order> orders = new ConcurrentLinkedQueue<>();
    private final List<Call> calls = new CopyOnWriteArrayList<>();
    private final List<Said> answers = new CopyOnWriteArrayList<>();
    private final Set<String> live = ConcurrentHashMap.newKeySet();
    private final AtomicInteger issued = new AtomicInteger();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Duration clock = Duration.ZERO;
    private volatile boolean suspended;

    /**
     * @param base the path of the API: empty as at api.github.com, or {@code /api/v3} as at GitHub
     *     Enterprise Server
     */
    public GitHubStandIn(RSAPublicKey appKey, String base) {
        this.appKey = appKey;
        this.base = base;
        server = LoopbackHttp.serving(0, this::handle);
    }

    /** The value of {@code api_url}. */
    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + base;
    }

    public List<Call> calls() {
        return List.copyOf(calls);
    }

    /** What was answered by the rules. */
    List<Said> answers() {
        return List.copyOf(answers);
    }

    /** The tokens that were given and not revoked. */
    public Set<String> live() {
        return Set.copyOf(live);
    }

    /** Sets its clock ahead of everybody else's. */
    public void ahead(Duration time) {
        clock = time;
    }

    public void suspend(boolean isSuspended) {
        suspended = isSuspended;
    }

    /** What is done with each of the next calls; then it goes on by the rules. */
    public void next(Order... some) {
        orders.addAll(List.of(some));
    }

    /** An answer of any kind, with further headers. */
    public static Order saying(int status, String body, String... headers) {
        return (exchange, _) -> {
            for (int i = 0; i < headers.length; i += 2) {
                exchange.getResponseHeaders().set(headers[i], headers[i + 1]);
            }
            send(exchange, status, body.replace('\'', '"'));
        };
    }

    /** The usual answer, changed. */
    public static Order changing(Consumer<ObjectNode> change) {
        return (exchange, server) -> {
            try {
                ObjectNode answer = server.token(exchange, server.lastBody());
                change.accept(answer);
                send(exchange, 201, answer.toString());
            } catch (Refusal e) {
                throw new IOException(e);
            }
        };
    }

    /** No answer until it is closed. */
    public static Order hanging() {
        return (_, server) -> {
            Unchecked.await(server.closed);
        };
    }

    /** An answer that quotes what was sent. */
    public static Order quoting() {
        return (exchange, _) ->
                send(
                        exchange,
                        400,
                        JSON.writeValueAsString(
                                Map.of(
                                        "message",
                                        "can't read "
                                                + exchange.getRequestHeaders()
                                                        .getFirst("Authorization"))));
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
    }

    private String lastBody() {
        return calls.getLast().body();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body =
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            calls.add(
                    new Call(
                            exchange.getRequestMethod(),
                            exchange.getRequestURI().getPath(),
                            Optional.ofNullable(
                                            exchange.getRequestHeaders().getFirst("Authorization"))
                                    .orElse(""),
                            body));
            Order order = orders.poll();
            if (order != null) {
                order.with(exchange, this);
                return;
            }
            respond(exchange, body);
        }
    }

    private void respond(HttpExchange exchange, String body) throws IOException {
        try {
            String call = exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath();
            requireHeaders(exchange);
            if (call.equals(
                    "POST " + base + "/app/installations/" + INSTALLATION + "/access_tokens")) {
                answer(exchange, 201, token(exchange, body).toString());
            } else if (call.equals("DELETE " + base + "/installation/token")) {
                if (!live.remove(bearer(exchange))) {
                    throw new Refusal(401, "Bad credentials");
                }
                answer(exchange, 204, "");
            } else {
                throw new Refusal(404, "Not Found");
            }
        } catch (Refusal e) {
            answer(
                    exchange,
                    e.status,
                    JSON.writeValueAsString(
                            Map.of(
                                    "message",
                                    String.valueOf(e.getMessage()),
                                    "documentation_url",
                                    "https://docs.github.com/rest")));
        }
    }

    private void answer(HttpExchange exchange, int status, String body) throws IOException {
        answers.add(new Said(status, body));
        send(exchange, status, body);
    }

    private static void requireHeaders(HttpExchange exchange) throws Refusal {
        var headers = exchange.getRequestHeaders();
        if (headers.getFirst("User-Agent") == null) {
            throw new Refusal(403, "Request forbidden by administrative rules.");
        }
        if (!"application/vnd.github+json".equals(headers.getFirst("Accept"))
                || !"2022-11-28".equals(headers.getFirst("X-GitHub-Api-Version"))) {
            throw new Refusal(415, "Unsupported media type or API version");
        }
    }

    private static String bearer(HttpExchange exchange) throws Refusal {
        String authorization = exchange.getRequestHeaders().getFirst("Authorization");
        if (authorization == null || !authorization.startsWith("Bearer ")) {
            throw new Refusal(401, "Requires authentication");
        }
        return authorization.substring("Bearer ".length());
    }

    private ObjectNode token(HttpExchange exchange, String body) throws IOException, Refusal {
        requireApp(bearer(exchange));
        if (suspended) {
            throw new Refusal(403, "This installation has been suspended");
        }
        JsonNode asked = JSON.readTree(body);
        String token = "ghs_1_" + "x".repeat(500) + "_" + issued.incrementAndGet();
        ObjectNode answer = JSON.createObjectNode().put("token", token);
        answer.put(
                "expires_at",
                Instant.now()
                        .plus(clock)
                        .plusSeconds(3600)
                        .truncatedTo(ChronoUnit.SECONDS)
                        .toString());
        answer.set("permissions", permissions(asked.path("permissions")));
        repositories(asked, answer);
        live.add(token);
        return answer;
    }

    /** "Generating a JSON Web Token (JWT) for a GitHub App". */
    private void requireApp(String text) throws Refusal {
        try {
            SignedJWT token = SignedJWT.parse(text);
            JWTClaimsSet claims = token.getJWTClaimsSet();
            Instant now = Instant.now().plus(clock);
            if (!token.getHeader().getAlgorithm().equals(JWSAlgorithm.RS256)
                    || !token.verify(new RSASSAVerifier(appKey))
                    || !CLIENT_ID.equals(claims.getIssuer())) {
                throw new Refusal(401, "A JSON web token could not be decoded");
            }
            if (claims.getIssueTime().toInstant().isAfter(now)) {
                throw new Refusal(
                        401,
                        "'Issued at' claim ('iat') must be an Integer representing the time that"
                                + " the assertion was issued");
            }
            Instant end = claims.getExpirationTime().toInstant();
            if (!end.isAfter(now)) {
                throw new Refusal(
                        401,
                        "'Expiration time' claim ('exp') must be a numeric value representing the"
                                + " future time at which the assertion expires");
            }
            if (end.isAfter(now.plus(Duration.ofMinutes(10)))) {
                throw new Refusal(401, "'Expiration time' claim ('exp') is too far in the future");
            }
        } catch (ParseException | JOSEException e) {
            throw new Refusal(401, "A JSON web token could not be decoded");
        }
    }

    private static ObjectNode permissions(JsonNode asked) throws Refusal {
        ObjectNode given = JSON.createObjectNode();
        if (asked.isMissingNode()) {
            GRANTED.forEach(given::put);
            return given;
        }
        for (Map.Entry<String, JsonNode> each : asked.properties()) {
            int wanted = LEVELS.indexOf(each.getValue().asText());
            int granted = LEVELS.indexOf(GRANTED.getOrDefault(each.getKey(), ""));
            if (wanted < 0 || wanted > granted) {
                throw new Refusal(
                        422, "The permissions requested are not granted to this installation.");
            }
            given.put(each.getKey(), each.getValue().asText());
        }
        return given.put("metadata", "read");
    }

    private static void repositories(JsonNode asked, ObjectNode answer) throws Refusal {
        if (!asked.has("repositories") && !asked.has("repository_ids")) {
            answer.put("repository_selection", "all");
            return;
        }
        answer.put("repository_selection", "selected");
        ArrayNode given = answer.putArray("repositories");
        for (JsonNode name : asked.path("repositories")) {
            add(given, name.asText(), Optional.ofNullable(REPOSITORIES.get(name.asText())));
        }
        for (JsonNode id : asked.path("repository_ids")) {
            String name =
                    REPOSITORIES.entrySet().stream()
                            .filter(each -> id.isIntegralNumber() && each.getValue() == id.asLong())
                            .map(Map.Entry::getKey)
                            .findFirst()
                            .orElse("");
            add(given, name, Optional.ofNullable(REPOSITORIES.get(name)));
        }
    }

    /** With all fields, as GitHub describes a repository. */
    private static void add(ArrayNode given, String name, Optional<Long> id) throws Refusal {
        long known =
                id.orElseThrow(() ->
                        new Refusal(
                                422,
                                "There is at least one repository that does not exist or is not"
                                        + " accessible to the parent installation."));
        ObjectNode repository = REPOSITORY.deepCopy();
        repository.put("id", known).put("name", name).put("full_name", "acme/" + name);
        given.add(repository);
    }

    private static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json; charset=utf-8");
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
