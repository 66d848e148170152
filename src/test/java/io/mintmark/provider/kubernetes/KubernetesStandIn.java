package io.mintmark.provider.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.LoopbackHttp;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.PublishedKeys;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * An API server as far as TokenRequests go. It refuses what a kube-apiserver 1.34.4 was measured to
 * refuse, with its statuses: 401 for a token that it doesn't trust, 403 without permission, 404 for
 * what isn't there, 422 for a lifetime under 600 seconds.
 */
public final class KubernetesStandIn implements AutoCloseable {
    public static final String SERVICE_ACCOUNT_TOKEN = "a-service-accounts-own-token";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<String> ACCOUNTS = Set.of("shop/deployer", "shop/gone");
    private static final int A_YEAR = 365 * 24 * 3600;

    /** A call, as far as tests look at it. */
    public record Call(String path, String authorization, JsonNode body) {}

    private static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;
        private final int status;

        Refusal(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    private final HttpServer server;
    private final PublishedKeys keys;
    private final ECKey own;
    private final Queue<Consumer<ObjectNode>> changes = new ConcurrentLinkedQueue<>();
    private final Queue<Integer> refusals = new ConcurrentLinkedQueue<>();
    private final List<Call> calls = new CopyOnWriteArrayList<>();
    private volatile int longest = 86_400;

    public KubernetesStandIn(Supplier<String> keySet) {
        keys = new PublishedKeys(keySet);
        own = Unchecked.call(() -> new ECKeyGenerator(Curve.P_256).keyID("cluster").generate());
        server = LoopbackHttp.serving(0, this::handle);
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    public List<Call> calls() {
        return List.copyOf(calls);
    }

    /** The longest lifetime that it gives. */
    void shorten(int seconds) {
        longest = seconds;
    }

    /** Changes the next answer. */
    public void changing(Consumer<ObjectNode> change) {
        changes.add(change);
    }

    /** Answers the next call with this status. */
    void refusing(int status) {
        refusals.add(status);
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            JsonNode body = JSON.readTree(exchange.getRequestBody().readAllBytes());
            Call call =
                    new Call(
                            exchange.getRequestURI().getPath(),
                            authorization == null ? "" : authorization,
                            body);
            calls.add(call);
            try {
                Integer status = refusals.poll();
                if (status != null) {
                    throw new Refusal(status, "as ordered");
                }
                ObjectNode answer = answer(call);
                Consumer<ObjectNode> change = changes.poll();
                if (change != null) {
                    change.accept(answer);
                }
                send(exchange, 201, answer);
            } catch (Refusal e) {
                send(
                        exchange,
                        e.status,
                        JSON.createObjectNode()
                                .put("kind", "Status")
                                .put("status", "Failure")
                                .put("message", e.getMessage())
                                .put("code", e.status));
            }
        }
    }

    private ObjectNode answer(Call call) throws Refusal {
        String user = user(call.authorization());
        String[] parts = call.path().split("/", -1);
        String account = parts.length == 8 ? parts[4] + "/" + parts[6] : "";
        if (!call.path().startsWith("/api/v1/namespaces/") || !call.path().endsWith("/token")) {
            throw new Refusal(404, "the server could not find the requested resource");
        }
        if (!ACCOUNTS.contains(account)) {
            throw new Refusal(
                    403,
                    "serviceaccounts \"%s\" is forbidden: User \"%s\" cannot create resource \"serviceaccounts/token\""
                            .formatted(parts[6], user));
        }
        if (account.equals("shop/gone")) {
            throw new Refusal(404, "serviceaccounts \"gone\" not found");
        }
        JsonNode spec = call.body().path("spec");
        int seconds = spec.path("expirationSeconds").asInt();
        if (seconds < 600) {
            throw new Refusal(
                    422, "spec.expirationSeconds: may not specify a duration less than 10 minutes");
        }
        String bound = spec.at("/boundObjectRef/name").asText("kill-switch");
        if (!bound.equals("kill-switch")) {
            throw new Refusal(404, "secrets \"%s\" not found".formatted(bound));
        }
        int said = Math.min(seconds, longest);
        List<String> audiences =
                spec.path("audiences").valueStream().map(JsonNode::asText).toList();
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        ObjectNode answer = call.body().deepCopy();
        answer.putObject("status")
                .put("token", token(account, audiences, now, seconds == 3607 ? A_YEAR : said))
                .put("expirationTimestamp", now.plusSeconds(said).toString());
        return answer;
    }

    /** The token's subject, or the service account of the broker's. */
    private String user(String authorization) throws Refusal {
        String token = authorization.replace("Bearer ", "");
        if (token.equals(SERVICE_ACCOUNT_TOKEN)) {
            return "system:serviceaccount:shop:mintmark";
        }
        try {
            JWTClaimsSet claims = keys.verified(token).getJWTClaimsSet();
            if (MintingBroker.ISSUER.equals(claims.getIssuer())
                    && List.of(url()).equals(claims.getAudience())
                    && claims.getExpirationTime().toInstant().isAfter(Instant.now())) {
                return claims.getSubject();
            }
        } catch (ParseException | JOSEException e) {
            throw new Refusal(401, "Unauthorized");
        }
        throw new Refusal(401, "Unauthorized");
    }

    private String token(String account, List<String> audiences, Instant now, int seconds) {
        try {
            var token =
                    new SignedJWT(
                            new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("cluster").build(),
                            new JWTClaimsSet.Builder()
                                    .issuer(url())
                                    .subject("system:serviceaccount:" + account.replace('/', ':'))
                                    .audience(audiences.isEmpty() ? List.of(url()) : audiences)
                                    .issueTime(Date.from(now))
                                    .expirationTime(Date.from(now.plusSeconds(seconds)))
                                    .jwtID(UUID.randomUUID().toString())
                                    .build());
            token.sign(new ECDSASigner(own));
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void send(HttpExchange exchange, int status, ObjectNode body)
            throws IOException {
        byte[] bytes = body.toString().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().putAll(Map.of("Content-Type", List.of("application/json")));
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
