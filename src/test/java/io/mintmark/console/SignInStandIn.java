package io.mintmark.console;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;

import io.mintmark.Unchecked;
import io.mintmark.broker.token.IssuerStandIn;

import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * What an {@link IssuerStandIn} needs to log people in: OpenID Connect's authorization code flow
 * and its logout, with one click for each person instead of passwords. It knows one client, and is
 * strict: a wrong redirect address, code, secret or code verifier (RFC 7636) gets an error.
 */
public final class SignInStandIn {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int OK = 200;
    private static final int FOUND = 302;
    private static final int BAD_REQUEST = 400;

    /**
     * Somebody who can log in.
     *
     * @param role what they are, for whoever chooses
     */
    public record Person(String name, String role, Map<String, Object> claims) {
        public Person(String name, Map<String, Object> claims) {
            this(name, "for trying out", claims);
        }
    }

    private record Code(String person, String redirectUri, String nonce, String challenge) {}

    private final IssuerStandIn issuer;
    private final String clientId;
    private final String clientSecret;
    private final String clientUrl;
    private final List<Person> people;
    private final Map<String, Code> codes = new ConcurrentHashMap<>();
    private volatile Duration lifetime = Duration.ofMinutes(5);
    private volatile Map<String, Object> further = Map.of();

    /**
     * @param clientUrl where the client is: browsers are sent back there and nowhere else
     */
    public SignInStandIn(
            IssuerStandIn issuer,
            String clientId,
            String clientSecret,
            String clientUrl,
            List<Person> people) {
        this.issuer = issuer;
        this.clientId = clientId;
        this.clientSecret = clientSecret;
        this.clientUrl = clientUrl;
        this.people = List.copyOf(people);
        issuer.serve(IssuerStandIn.DISCOVERY, json(discovery()));
        issuer.serve("/authorize", this::authorize);
        issuer.serve("/tokens", this::tokens);
        issuer.serve("/end-session", this::endSession);
    }

    private Map<String, Object> discovery() {
        return Map.of(
                "issuer", issuer.url(),
                "authorization_endpoint", issuer.url() + "/authorize",
                "token_endpoint", issuer.url() + "/tokens",
                "jwks_uri", issuer.url() + IssuerStandIn.KEYS,
                "end_session_endpoint", issuer.url() + "/end-session",
                "token_endpoint_auth_methods_supported", List.of("client_secret_basic"));
    }

    /** How long ID tokens are good for from now on. */
    void lifetime(Duration lifetime) {
        this.lifetime = lifetime;
    }

    /** Claims that every ID token has from now on, whoever it is of. */
    void further(Map<String, Object> claims) {
        this.further = Map.copyOf(claims);
    }

    /** Whoever has a session here isn't asked again; {@code as} is the click on a name. */
    private void authorize(HttpExchange exchange) throws IOException {
        Map<String, String> query = parameters(exchange.getRequestURI().getRawQuery());
        if (!clientId.equals(query.get("client_id"))
                || !(clientUrl + "/oidc/redirect").equals(query.get("redirect_uri"))
                || !"code".equals(query.get("response_type"))
                || !query.containsKey("nonce")
                || !"S256".equals(query.get("code_challenge_method"))) {
            answer(exchange, BAD_REQUEST, "unknown client or redirect address, or no PKCE");
            return;
        }
        Optional<String> person =
                Optional.ofNullable(query.get("as"))
                        .or(() -> session(exchange))
                        .filter(this::known);
        if (person.isEmpty()) {
            exchange.getResponseHeaders().set("Content-Type", "text/html; charset=utf-8");
            answer(exchange, OK, choice(exchange.getRequestURI().getRawQuery()));
            return;
        }
        String code = UUID.randomUUID().toString();
        String redirectUri = clientUrl + "/oidc/redirect";
        codes.put(
                code,
                new Code(
                        person.get(),
                        redirectUri,
                        query.getOrDefault("nonce", ""),
                        query.getOrDefault("code_challenge", "")));
        exchange.getResponseHeaders()
                .add("Set-Cookie", "sign-in=" + encoded(person.get()) + "; Path=/; HttpOnly");
        redirect(
                exchange,
                "%s?code=%s&state=%s"
                        .formatted(redirectUri, code, encoded(query.getOrDefault("state", ""))));
    }

    private String choice(String query) {
        return """
        <!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
        <title>Who are you?</title><style>
        :root { color-scheme: light dark; --line: light-dark(#dfe3e8, #2c3341); --quiet: light-dark(#5a6170, #99a2b3) }
        body { font: 16px/1.45 system-ui, sans-serif; margin: 0; background: light-dark(#fff, #13171f); color: light-dark(#373c44, #c2c7d0) }
        header, main { max-width: 26rem; margin: 0 auto; padding: .75rem 1rem }
        header { display: flex; align-items: center; gap: .5rem; border-bottom: 1px solid var(--line); font-weight: 700; margin-top: 10vh }
        svg { width: 28px } h1 { font-size: 1.5rem; margin: .4rem 0 .6rem } p { color: var(--quiet) }
        ul { list-style: none; padding: 0 }
        li { position: relative; background: light-dark(#f5f7f8, #1a1f29); border: 1px solid var(--line); border-left: 4px solid light-dark(#0b6e4f, #5fd0a5); margin: .5rem 0; padding: .65rem .9rem }
        li:hover { border-color: light-dark(#0b6e4f, #5fd0a5) } small { color: var(--quiet); font-size: .9rem }
        a { color: light-dark(#0a6147, #5fd0a5); font-weight: 600; margin-right: .6rem } a::after { content: ""; position: absolute; inset: 0 }
        </style>
        <header>%s Mintmark</header>
        <main><h1>Who are you?</h1><p>An identity provider for trying out: one click, no password.</p>
        <ul>%s</ul></main></html>
        """
                .formatted(
                        mark(),
                        people.stream()
                                .map(person ->
                                        "<li><a href=\"/authorize?%s&amp;as=%s\">%s</a> <small>%s</small></li>"
                                                .formatted(
                                                        query.replace("&", "&amp;"),
                                                        encoded(person.name()),
                                                        person.name(),
                                                        person.role()))
                                .collect(Collectors.joining()));
    }

    /** The console's own mark, so that its login looks like it. */
    private static String mark() {
        return Unchecked.call(
                () -> Files.readString(Path.of("src/main/resources/console/mark.svg")));
    }

    private boolean known(String name) {
        return people.stream().anyMatch(person -> person.name().equals(name));
    }

    private static Optional<String> session(HttpExchange exchange) {
        return exchange.getRequestHeaders().getOrDefault("Cookie", List.of()).stream()
                .flatMap(header -> Arrays.stream(header.split(";\\s*")))
                .filter(cookie -> cookie.startsWith("sign-in="))
                .map(cookie -> decoded(cookie.substring("sign-in=".length())))
                .findFirst();
    }

    /** RFC 6749 section 4.1.3: a code works once. The access token is opaque. */
    private void tokens(HttpExchange exchange) throws IOException {
        Map<String, String> form =
                parameters(
                        new String(
                                exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        String expected =
                "Basic "
                        + Base64.getEncoder()
                                .encodeToString(
                                        (clientId + ":" + clientSecret)
                                                .getBytes(StandardCharsets.UTF_8));
        Code code = codes.remove(form.getOrDefault("code", ""));
        if (!expected.equals(exchange.getRequestHeaders().getFirst("Authorization"))
                || code == null
                || !code.redirectUri().equals(form.get("redirect_uri"))
                || !code.challenge().equals(challenge(form.getOrDefault("code_verifier", "")))) {
            answer(exchange, BAD_REQUEST, json(Map.of("error", "invalid_grant")));
            return;
        }
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        answer(
                exchange,
                OK,
                json(
                        Map.of(
                                "access_token",
                                "opaque-" + UUID.randomUUID(),
                                "refresh_token",
                                "refresh-" + UUID.randomUUID(),
                                "token_type",
                                "Bearer",
                                "id_token",
                                idToken(code.person(), code.nonce()))));
    }

    /** RFC 7636 section 4.2. */
    private static String challenge(String verifier) {
        try {
            byte[] hash =
                    MessageDigest.getInstance("SHA-256")
                            .digest(verifier.getBytes(StandardCharsets.US_ASCII));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An ID token as a login would give. */
    String idToken(String name, String nonce) {
        Map<String, Object> claims = new LinkedHashMap<>();
        claims.put("sub", name);
        claims.put("aud", clientId);
        claims.put("nonce", nonce);
        claims.put("exp", Instant.now().plus(lifetime).getEpochSecond());
        people.stream()
                .filter(person -> person.name().equals(name))
                .findAny()
                .ifPresent(person -> claims.putAll(person.claims()));
        claims.putAll(further);
        return issuer.sign(claims);
    }

    private void endSession(HttpExchange exchange) throws IOException {
        Map<String, String> query = parameters(exchange.getRequestURI().getRawQuery());
        String back = query.getOrDefault("post_logout_redirect_uri", "");
        if (!back.equals(clientUrl + "/oidc/logged-out")
                || !clientId.equals(query.get("client_id"))) {
            answer(exchange, BAD_REQUEST, "no such redirect address");
            return;
        }
        exchange.getResponseHeaders().add("Set-Cookie", "sign-in=; Path=/; Max-Age=0");
        redirect(exchange, back);
    }

    private static Map<String, String> parameters(String form) {
        return form == null || form.isEmpty()
                ? Map.of()
                : Arrays.stream(form.split("&"))
                        .map(pair -> pair.split("=", 2))
                        .filter(pair -> pair.length == 2)
                        .collect(
                                Collectors.toMap(
                                        pair -> decoded(pair[0]),
                                        pair -> decoded(pair[1]),
                                        (_, last) -> last));
    }

    private static String json(Map<String, ?> members) {
        return JSON.valueToTree(members).toString();
    }

    private static void redirect(HttpExchange exchange, String to) throws IOException {
        exchange.getResponseHeaders().set("Location", URI.create(to).toString());
        answer(exchange, FOUND, "");
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
