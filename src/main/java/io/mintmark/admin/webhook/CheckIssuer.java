package io.mintmark.admin.webhook;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.output.CommandFailed;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * An issuer that signs with a key of its own and publishes it as a broker does, for as long as a
 * service is checked.
 */
final class CheckIssuer implements AutoCloseable {
    private static final String KEYS = "/.well-known/jwks.json";

    private final String name;
    private final ECKey published = key();
    private final ECKey other = key();
    private final HttpServer server;

    /** How a token is signed. */
    enum Signed {
        /** Signed like the broker's tokens, with the published key. */
        PROPERLY,
        /** Signed with an unpublished key, under the id of the published key. */
        WITH_OTHER_KEY,
        /** Signed with an unpublished key, under its own id. */
        WITH_UNKNOWN_KEY,
        /** Not signed at all. */
        NOT
    }

    /**
     * @param name the {@code iss} of its tokens
     * @throws CommandFailed if it can't listen there
     */
    CheckIssuer(String name, InetSocketAddress listen) {
        this.name = name;
        try {
            server = HttpServer.create(listen, 0);
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandFailed(
                    "can't listen on %s:%d (%s); choose another address with --listen"
                            .formatted(listen.getHostString(), listen.getPort(), e.getMessage()));
        }
        serve("/.well-known/openid-configuration", discoveryDocument());
        serve(KEYS, new JWKSet(published.toPublicJWK()).toString());
        server.start();
    }

    private String discoveryDocument() {
        var document =
                JsonNodeFactory.instance.objectNode().put("issuer", name).put("jwks_uri", keysAt());
        document.putArray("id_token_signing_alg_values_supported").add("ES256");
        return document.toString();
    }

    /** The {@code iss} of its tokens. */
    String name() {
        return name;
    }

    String keysAt() {
        return name + KEYS;
    }

    Secret token(JWTClaimsSet claims, Signed signed) {
        try {
            return new Secret(
                    switch (signed) {
                        case PROPERLY -> signed(claims, published.getKeyID(), published);
                        case WITH_OTHER_KEY -> signed(claims, published.getKeyID(), other);
                        case WITH_UNKNOWN_KEY -> signed(claims, other.getKeyID(), other);
                        case NOT -> new PlainJWT(claims).serialize();
                    });
        } catch (JOSEException e) {
            throw new IllegalStateException("signing with the P-256 key failed", e);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private static String signed(JWTClaimsSet claims, String id, ECKey key) throws JOSEException {
        var token =
                new SignedJWT(
                        new JWSHeader.Builder(JWSAlgorithm.ES256)
                                .type(JOSEObjectType.JWT)
                                .keyID(id)
                                .build(),
                        claims);
        token.sign(new ECDSASigner(key));
        return token.serialize();
    }

    private static ECKey key() {
        try {
            return new ECKeyGenerator(Curve.P_256)
                    .algorithm(JWSAlgorithm.ES256)
                    .keyID(UUID.randomUUID().toString())
                    .generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(
                    "this Java runtime lacks P-256; use a complete Java 25 runtime", e);
        }
    }

    private void serve(String path, String document) {
        byte[] body = document.getBytes(StandardCharsets.UTF_8);
        server.createContext(path, exchange -> answer(exchange, body));
    }

    private static void answer(HttpExchange exchange, byte[] body) throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }
}
