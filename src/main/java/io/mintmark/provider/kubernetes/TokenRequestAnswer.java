package io.mintmark.provider.kubernetes;

import static io.mintmark.base.outbound.ServiceAnswer.unless;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.ServiceAnswer;
import io.mintmark.base.time.Timestamps;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.identity.UnverifiedClaims;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.TimedToken;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** An API server's response to a TokenRequest. */
record TokenRequestAnswer(Reply reply, Endpoint server) {
    private static final int CREATED = 201;

    /** The credential, if it is what was asked for. */
    MintResult result(KubernetesSettings settings) {
        if (!reply.isSuccess()) {
            return failure();
        }
        ServiceAnswer status = reply.answer().within("status");
        Optional<Secret> given = status.token("token");
        if (given.isEmpty()) {
            return Calls.failed(Reason.PROVIDER_ERROR, "the response has no status.token", server);
        }
        Secret token = given.get();
        Optional<Instant> expiry = status.time("expirationTimestamp");
        Optional<UnverifiedClaims> claims = UnverifiedClaims.of(token);
        return objection(settings, status, token, claims)
                .<MintResult>map(why -> Calls.withheld(new TimedToken(token, expiry), why, server))
                .orElseGet(() ->
                        minted(
                                settings,
                                token,
                                expiry.orElseThrow().truncatedTo(ChronoUnit.SECONDS),
                                claims.flatMap(UnverifiedClaims::id)));
    }

    private Optional<String> objection(
            KubernetesSettings settings,
            ServiceAnswer status,
            Secret token,
            Optional<UnverifiedClaims> claims) {
        Optional<Instant> said = status.time("expirationTimestamp");
        return reply.answer()
                .objection(token)
                .or(() -> unless(reply.status() == CREATED, "the response's status isn't 201"))
                .or(() ->
                        unless(
                                said.isPresent(),
                                "the response has no valid status.expirationTimestamp"))
                .or(() ->
                        unless(
                                claims.flatMap(UnverifiedClaims::subject)
                                        .filter(settings.subject()::equals)
                                        .isPresent(),
                                "the token isn't for the service account"))
                .or(() ->
                        unless(
                                claims.flatMap(UnverifiedClaims::expiry)
                                        .filter(end -> !end.isAfter(said.orElseThrow()))
                                        .isPresent(),
                                "the token is valid for longer than the response says"))
                .or(() ->
                        unless(
                                settings.audiences().isEmpty()
                                        || claims.orElseThrow()
                                                .audiences()
                                                .equals(Set.copyOf(settings.audiences())),
                                "the token's audiences are not the requested ones"));
    }

    private Minted minted(
            KubernetesSettings settings, Secret token, Instant expiry, Optional<String> id) {
        Map<String, Secret> fields = new HashMap<>();
        fields.put("Token", token);
        fields.put("Server", new Secret(server.toString()));
        fields.put("Namespace", new Secret(settings.namespace()));
        fields.put("Expiration", new Secret(Timestamps.text(expiry)));
        settings.caCertificate().ifPresent(pem -> fields.put("CaCertificate", new Secret(pem)));
        fields.put("Kubeconfig", new Secret(kubeconfig(settings, token).toString()));
        Minted minted = Minted.ofToken(token, expiry, Map.of());
        return new Minted(fields, expiry, id.map("JTI="::concat).orElse(minted.credentialId()));
    }

    /** The kubeconfig as JSON, which is valid YAML. */
    private ObjectNode kubeconfig(KubernetesSettings settings, Secret token) {
        ObjectNode config =
                JsonNodeFactory.instance
                        .objectNode()
                        .put("apiVersion", "v1")
                        .put("kind", "Config")
                        .put("current-context", "mintmark");
        ObjectNode cluster = named(config, "clusters", "cluster").put("server", server.toString());
        settings.caCertificate()
                .ifPresent(pem ->
                        cluster.put(
                                "certificate-authority-data",
                                Base64.getEncoder()
                                        .encodeToString(pem.getBytes(StandardCharsets.UTF_8))));
        named(config, "users", "user").put("token", token.reveal());
        named(config, "contexts", "context")
                .put("cluster", "mintmark")
                .put("user", "mintmark")
                .put("namespace", settings.namespace());
        return config;
    }

    private static ObjectNode named(ObjectNode config, String list, String part) {
        return config.putArray(list).addObject().put("name", "mintmark").putObject(part);
    }

    private Failed failure() {
        String message = reply.answer().words("message").orElse("no message");
        return Calls.failed(
                Calls.meaning(reply.status()),
                "%s (HTTP %d)".formatted(message, reply.status()),
                server);
    }
}
