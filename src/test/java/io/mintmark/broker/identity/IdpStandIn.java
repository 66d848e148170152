package io.mintmark.broker.identity;

import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jose.jwk.AsymmetricJWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;

import io.mintmark.broker.token.IssuerStandIn;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * An authorization server on a loopback port that gives tokens to one client, by the client
 * credentials grant (RFC 6749 section 4.4), and refuses what a real one would: a wrong or a double
 * proof of the client, parameters given twice, a scope or an audience that it doesn't know, an
 * assertion that it has seen or that isn't for it.
 */
public final class IdpStandIn implements AutoCloseable {
    public static final String CLIENT = "mint:mark";
    public static final String SECRET = "s3cret&+/%ü";

    /** The token endpoint's path. */
    public static final String TOKEN = "/oauth/token";

    private static final Set<String> SCOPES = Set.of("aws", "storage");

    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final List<Map<String, String>> requests = new CopyOnWriteArrayList<>();
    private final Queue<Saying> sayings = new ConcurrentLinkedQueue<>();
    private final Set<String> assertions = ConcurrentHashMap.newKeySet();
    private final AtomicInteger issued = new AtomicInteger();
    private volatile Map<String, Object> claims = Map.of("aud", "sts.amazonaws.com");
    private volatile Optional<Duration> lifetime = Optional.of(Duration.ofMinutes(5));
    private volatile Optional<Saying> always = Optional.empty();
    private volatile Supplier<String> clientKeys = () -> "{\"keys\":[]}";

    private record Saying(int status, String body) {}

    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;

        private final int status;

        Refused(int status, String error) {
            super(error);
            this.status = status;
        }
    }

    private IdpStandIn() {
        issuer.serve(TOKEN, this::handle);
        issuer.serve(IssuerStandIn.DISCOVERY, metadata(url()));
    }

    public static IdpStandIn start() {
        return new IdpStandIn();
    }

    /** Its name and address. */
    public String url() {
        return issuer.url();
    }

    public String tokenEndpoint() {
        return url() + TOKEN;
    }

    /** What it answers besides tokens, and what it was asked for. */
    public IssuerStandIn pages() {
        return issuer;
    }

    /** A discovery document of some issuer that leads here. */
    public String metadata(String name) {
        return "{\"issuer\":\"%s\",\"token_endpoint\":\"%s\",\"response_types_supported\":[]}"
                .formatted(name, tokenEndpoint());
    }

    /** What tokens say beside {@code iss}, {@code sub} and times. */
    public void give(Map<String, Object> claims) {
        this.claims = claims;
    }

    /**
     * What {@code expires_in} says; nothing leaves it out. The token's {@code exp} says the same.
     */
    public void lasting(Optional<Duration> lifetime) {
        this.lifetime = lifetime;
    }

    /** The client's published keys, for its assertions. */
    public void trust(Supplier<String> keySet) {
        clientKeys = keySet;
    }

    /** What it answers next, whatever it is asked. */
    public void next(int status, String body) {
        sayings.add(new Saying(status, body));
    }

    /** What it answers from now on, whatever it is asked. */
    public void always(int status, String body) {
        always = Optional.of(new Saying(status, body));
    }

    /** The parameters of every request for a token so far. */
    public List<Map<String, String>> requests() {
        return List.copyOf(requests);
    }

    @Override
    public void close() {
        issuer.close();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            send(exchange, answer(exchange));
        }
    }

    private Saying answer(HttpExchange exchange) throws IOException {
        try {
            Map<String, String> form = form(exchange);
            requests.add(form);
            Saying saying = always.orElseGet(sayings::poll);
            if (saying != null) {
                return saying;
            }
            check(
                    form,
                    Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization")));
            return new Saying(200, token());
        } catch (Refused e) {
            return new Saying(e.status, "{\"error\":\"" + e.getMessage() + "\"}");
        }
    }

    private void check(Map<String, String> form, Optional<String> authorization) throws Refused {
        if (!"client_credentials".equals(form.get("grant_type"))) {
            throw new Refused(400, "unsupported_grant_type");
        }
        int proofs =
                (authorization.isPresent() ? 1 : 0)
                        + (form.containsKey("client_secret") ? 1 : 0)
                        + (form.containsKey("client_assertion") ? 1 : 0);
        if (proofs != 1 || !isProven(form, authorization)) {
            throw new Refused(401, "invalid_client");
        }
        if (!SCOPES.containsAll(List.of(form.getOrDefault("scope", "aws").split(" ", -1)))) {
            throw new Refused(400, "invalid_scope");
        }
    }

    private boolean isProven(Map<String, String> form, Optional<String> authorization) {
        if (authorization.isPresent()) {
            String pair = encode(CLIENT) + ":" + encode(SECRET);
            String expected =
                    Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
            return authorization.get().equals("Basic " + expected)
                    && !form.containsKey("client_id");
        }
        if (form.containsKey("client_secret")) {
            return CLIENT.equals(form.get("client_id")) && SECRET.equals(form.get("client_secret"));
        }
        return "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                        .equals(form.get("client_assertion_type"))
                && isAssertion(form.getOrDefault("client_assertion", ""));
    }

    private boolean isAssertion(String assertion) {
        try {
            SignedJWT parsed = SignedJWT.parse(assertion);
            var key = JWKSet.parse(clientKeys.get()).getKeyByKeyId(parsed.getHeader().getKeyID());
            var said = parsed.getJWTClaimsSet();
            return key instanceof AsymmetricJWK known
                    && parsed.verify(
                            new DefaultJWSVerifierFactory()
                                    .createJWSVerifier(parsed.getHeader(), known.toPublicKey()))
                    && CLIENT.equals(said.getIssuer())
                    && CLIENT.equals(said.getSubject())
                    && List.of(tokenEndpoint()).equals(said.getAudience())
                    && said.getExpirationTime().toInstant().isAfter(Instant.now())
                    && assertions.add(said.getJWTID());
        } catch (Exception e) {
            return false;
        }
    }

    private String token() {
        Map<String, Object> all = new LinkedHashMap<>(claims);
        all.putIfAbsent("sub", "service-account-mintmark");
        all.put("jti", "token-" + issued.incrementAndGet());
        lifetime.ifPresent(
                life -> all.putIfAbsent("exp", Instant.now().plus(life).getEpochSecond()));
        String expiresIn = lifetime.map(life -> ",\"expires_in\":" + life.toSeconds()).orElse("");
        return "{\"access_token\":\"%s\",\"token_type\":\"Bearer\"%s}"
                .formatted(issuer.sign(all), expiresIn);
    }

    private static Map<String, String> form(HttpExchange exchange) throws IOException, Refused {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        if (!exchange.getRequestMethod().equals("POST")
                || !"application/x-www-form-urlencoded"
                        .equals(exchange.getRequestHeaders().getFirst("Content-Type"))) {
            throw new Refused(400, "invalid_request");
        }
        Map<String, String> form = new HashMap<>();
        for (String pair : body.split("&", -1)) {
            String[] parts = pair.split("=", 2);
            String name = URLDecoder.decode(parts[0], StandardCharsets.UTF_8);
            if (form.put(name, URLDecoder.decode(parts[1], StandardCharsets.UTF_8)) != null) {
                throw new Refused(400, "invalid_request");
            }
        }
        return form;
    }

    private static String encode(String text) {
        return java.net.URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static void send(HttpExchange exchange, Saying saying) throws IOException {
        byte[] bytes = saying.body().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(saying.status(), bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
