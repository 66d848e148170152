package io.mintmark.keycloak;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Answer;

import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** One realm: its token endpoint, and its signing keys as an administrator sees them. */
record KeycloakRealm(Keycloak keycloak, String name) {

    String issuer() {
        return keycloak.url() + path();
    }

    String path() {
        return "/realms/" + name;
    }

    /** Where its keys really are. */
    String jwksUri() {
        return issuer() + "/protocol/openid-connect/certs";
    }

    String tokenEndpoint() {
        return issuer() + "/protocol/openid-connect/token";
    }

    /** The keys that it publishes now. */
    String keySet() {
        return keycloak.get(URI.create(jwksUri()).getPath()).response().body();
    }

    /** Asks for a token; every client of the tests' realms has its name and -secret as secret. */
    Answer ask(String client, Map<String, String> parameters) {
        return ask(client, client + "-secret", parameters);
    }

    private Answer ask(String client, String secret, Map<String, String> parameters) {
        Map<String, String> form = new HashMap<>(parameters);
        form.put("client_id", client);
        form.put("client_secret", secret);
        return keycloak.form(path() + "/protocol/openid-connect/token", form);
    }

    /** An access token for a client's service account. */
    String serviceAccountToken(String client) {
        return serviceAccountToken(client, client + "-secret");
    }

    String serviceAccountToken(String client, String secret) {
        Answer answer = ask(client, secret, Map.of("grant_type", "client_credentials"));
        if (answer.status() != 200) {
            throw new IllegalStateException(answer.toString());
        }
        return answer.at("/access_token");
    }

    /** What a person gets who logs in: access, identity and refresh token. */
    Answer login(String client, String person) {
        return ask(
                client,
                Map.of(
                        "grant_type",
                        "password",
                        "scope",
                        "openid",
                        "username",
                        person,
                        "password",
                        person + "-password"));
    }

    /** Changes the representation of a client. */
    void change(String client, Consumer<ObjectNode> edit) {
        JsonNode found = client(client);
        edit.accept((ObjectNode) found);
        keycloak.admin("PUT", pathOf(client), found.toString());
    }

    /** The path of a client in the admin REST API. */
    String pathOf(String client) {
        return "/admin%s/clients/%s".formatted(path(), client(client).path("id").asText());
    }

    private JsonNode client(String client) {
        return ask("GET", "/clients?clientId=" + client, "").path(0);
    }

    /** A call of the admin REST API about this realm. */
    JsonNode ask(String method, String path, String json) {
        Answer answer = keycloak.admin(method, "/admin" + path() + path, json);
        return answer.response().body().isEmpty() ? MissingNode.getInstance() : answer.body();
    }

    /** Has its tokens signed so from now on. */
    void signWith(String algorithm) {
        ask("PUT", "", "{\"defaultSignatureAlgorithm\": \"%s\"}".formatted(algorithm));
    }

    /** Adds a new key that signs from now on. */
    void rotate() {
        ask(
                "POST",
                "/components",
                """
                {"name": "next", "providerId": "rsa-generated",
                 "providerType": "org.keycloak.keys.KeyProvider",
                 "config": {"priority": ["200"]}}
                """);
    }

    /** Takes away the key that a token was signed with. */
    void removeKeyOf(String token) {
        JsonNode keys = ask("GET", "/keys", "").path("keys");
        String owner =
                keys.valueStream()
                        .filter(key -> header(token).getKeyID().equals(key.path("kid").textValue()))
                        .map(key -> key.path("providerId").textValue())
                        .findAny()
                        .orElseThrow();
        ask("DELETE", "/components/" + owner, "");
    }

    /** The id that Keycloak gave to whom a token is about. */
    static String subject(String token) {
        return claims(token).getSubject();
    }

    static JWTClaimsSet claims(String token) {
        return Unchecked.call(() -> parse(token).getJWTClaimsSet());
    }

    static JWSHeader header(String token) {
        return parse(token).getHeader();
    }

    private static SignedJWT parse(String token) {
        return Unchecked.call(() -> SignedJWT.parse(token));
    }
}
