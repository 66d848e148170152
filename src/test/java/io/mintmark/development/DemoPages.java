package io.mintmark.development;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;

import io.mintmark.broker.token.IssuerStandIn;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What the demo's identity provider serves besides its keys: tokens for any subject, a service that
 * accepts minted credentials, and the audit log for those without {@code psql}.
 */
final class DemoPages {
    private static final String AUDIENCE = "mintmark-demo";
    private static final int OK = 200;
    private static final int UNAUTHORIZED = 401;

    private final DemoDatabase database;
    private final String brokerUrl;

    DemoPages(DemoDatabase database, String brokerUrl) {
        this.database = database;
        this.brokerUrl = brokerUrl;
    }

    void serveFrom(IssuerStandIn issuer) {
        issuer.serve("/token", exchange -> token(issuer, exchange));
        issuer.serve("/api", this::api);
        issuer.serve("/audit", exchange -> answer(exchange, OK, database.latestEvents()));
    }

    private static void token(IssuerStandIn issuer, HttpExchange exchange) throws IOException {
        Map<String, String> query = query(exchange.getRequestURI());
        String subject = query.getOrDefault("sub", "ci:demo");
        String audience = query.getOrDefault("aud", AUDIENCE);
        answer(exchange, OK, issuer.sign(subject, audience));
    }

    /** A service that trusts the demo tenant's issuer, as any service could. */
    private void api(HttpExchange exchange) throws IOException {
        String header = exchange.getRequestHeaders().getFirst("Authorization");
        try {
            SignedJWT token = SignedJWT.parse(header == null ? "" : header.replace("Bearer ", ""));
            answer(exchange, OK, greeting(verified(token)));
        } catch (ParseException | JOSEException | IllegalArgumentException e) {
            answer(exchange, UNAUTHORIZED, "No: this is no credential of the demo tenant.\n");
        }
    }

    private JWTClaimsSet verified(SignedJWT token)
            throws ParseException, JOSEException, IOException {
        String issuer = brokerUrl + "/tenants/demo";
        JWKSet keys = JWKSet.load(URI.create(issuer + "/.well-known/jwks.json").toURL());
        var key = keys.getKeyByKeyId(token.getHeader().getKeyID());
        JWTClaimsSet claims = token.getJWTClaimsSet();
        if (key == null
                || !token.verify(new ECDSAVerifier(key.toECKey()))
                || !issuer.equals(claims.getIssuer())
                || !claims.getAudience().contains("https://demo-api.example")
                || claims.getExpirationTime().toInstant().isBefore(Instant.now())) {
            throw new IllegalArgumentException("not ours");
        }
        return claims;
    }

    private static String greeting(JWTClaimsSet claims) {
        return "Hello %s, mint %s lets you in until %s.%n"
                .formatted(
                        claims.getSubject(),
                        claims.getJWTID(),
                        claims.getExpirationTime().toInstant());
    }

    private static Map<String, String> query(URI uri) {
        String query = uri.getRawQuery();
        return query == null
                ? Map.of()
                : Arrays.stream(query.split("&"))
                        .map(pair -> pair.split("=", 2))
                        .filter(pair -> pair.length == 2)
                        .collect(
                                Collectors.toMap(
                                        pair -> pair[0],
                                        pair -> URLDecoder.decode(pair[1], StandardCharsets.UTF_8),
                                        (_, last) -> last));
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
        exchange.sendResponseHeaders(status, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }
}
