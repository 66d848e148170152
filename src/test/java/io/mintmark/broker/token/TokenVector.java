package io.mintmark.broker.token;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.util.Base64URL;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A file of {@code vectors/tokens}; its README says what stands in one. */
record TokenVector(String name, JsonNode json) {
    private static final Path FOLDER = Path.of("src/test/resources/vectors/tokens");
    private static final ObjectMapper MAPPER = new ObjectMapper();

    static Stream<TokenVector> all() throws IOException {
        return all(FOLDER);
    }

    /**
     * Those of {@code vectors/pairs}, of which each has a subject's token and perhaps an actor's.
     */
    static Stream<TokenVector> pairs() throws IOException {
        return all(FOLDER.resolveSibling("pairs"));
    }

    private static Stream<TokenVector> all(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files
                    .filter(file -> file.toString().endsWith(".json"))
                    .sorted()
                    .map(TokenVector::read)
                    .toList()
                    .stream();
        }
    }

    private static TokenVector read(Path file) {
        try {
            String name = String.valueOf(file.getFileName()).replace(".json", "");
            return new TokenVector(name, MAPPER.readTree(Files.readString(file)));
        } catch (IOException e) {
            throw new UncheckedIOException(file.toString(), e);
        }
    }

    Instant now() {
        return Instant.parse(json.path("now").textValue());
    }

    List<IdentityProvider> providers(VectorKeys keys) {
        return json.path("providers").valueStream().map(row -> provider(row, keys)).toList();
    }

    PresentedToken token(VectorKeys keys) {
        return new PresentedToken(new Secret(text(json.path("token"), keys)));
    }

    private static String text(JsonNode token, VectorKeys keys) {
        if (token.has("text")) {
            return token.path("text").textValue();
        }
        String input = part(token, "header") + "." + part(token, "claims");
        return input + "." + signature(token, input, keys);
    }

    private static String part(JsonNode token, String part) {
        if (token.has(part + "_hex")) {
            byte[] bytes = HexFormat.of().parseHex(token.path(part + "_hex").textValue());
            return Base64URL.encode(bytes).toString();
        }
        if (token.has(part + "_base64")) {
            return token.path(part + "_base64").textValue();
        }
        if (token.has(part + "_text")) {
            return Base64URL.encode(token.path(part + "_text").textValue()).toString();
        }
        ObjectNode object = token.path(part).deepCopy();
        if (part.equals("claims") && token.has("filler")) {
            object.put("filler", "x".repeat(token.path("filler").intValue()));
        }
        return Base64URL.encode(object.toString()).toString();
    }

    private static String signature(JsonNode token, String input, VectorKeys keys) {
        if (token.has("signature")) {
            return token.path("signature").textValue();
        }
        TestKey key = keys.named(token.path("signed_by").textValue());
        String by = token.path("signed_as").asText(key.algorithm());
        Base64URL signature =
                by.startsWith("HS") ? Confusion.hmac(key, input) : key.signature(by, input);
        return signature + token.path("then").asText("");
    }

    private static IdentityProvider provider(JsonNode row, VectorKeys keys) {
        String issuer = row.path("issuer").textValue();
        return new IdentityProvider(
                new IdpName(row.path("name").textValue()),
                new TenantName(row.path("tenant").textValue()),
                issuer,
                texts(row.path("audiences")),
                source(issuer, row, keys),
                Set.copyOf(
                        row.has("algorithms")
                                ? texts(row.path("algorithms"))
                                : List.of("RS256", "ES256")),
                Set.copyOf(texts(row.path("token_types"))),
                conditions(row.path("required_claims")),
                Duration.ofSeconds(row.path("clock_skew").asLong(0)),
                Optional.of(row.path("max_token_age"))
                        .filter(JsonNode::isNumber)
                        .map(age -> Duration.ofSeconds(age.longValue())),
                row.path("one_time_tokens").asBoolean(false),
                Set.of(Role.SUBJECT),
                row.path("listed").asBoolean(true),
                "");
    }

    /** Keys that can't be fetched are at a port where nobody listens, and nobody may connect to. */
    private static KeySource source(String issuer, JsonNode row, VectorKeys keys) {
        if (row.path("keys").isTextual()) {
            return new KeySource(
                    issuer,
                    Optional.empty(),
                    Optional.of("https://127.0.0.1:9/"),
                    Optional.empty());
        }
        String jwks =
                row.path("keys")
                        .valueStream()
                        .map(key -> published(key, keys))
                        .collect(Collectors.joining(",", "{\"keys\":[", "]}"));
        return new KeySource(issuer, Optional.of(jwks), Optional.empty(), Optional.empty());
    }

    /** A key by its name, or by its name with members changed, or as it is published. */
    private static String published(JsonNode entry, VectorKeys keys) {
        if (entry.has("kty")) {
            return entry.toString();
        }
        if (entry.isTextual()) {
            return keys.named(entry.textValue()).publicJwk();
        }
        try {
            TestKey key = keys.named(entry.path("key").textValue());
            boolean leaked = entry.path("private").asBoolean(false);
            ObjectNode jwk =
                    MAPPER.readValue(leaked ? key.privateJwk() : key.publicJwk(), ObjectNode.class);
            entry.path("with").properties().forEach(m -> jwk.set(m.getKey(), m.getValue()));
            jwk.remove(texts(entry.path("without")));
            return jwk.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ClaimConditions conditions(JsonNode json) {
        return json.isObject()
                ? new ClaimConditions(
                        MAPPER.convertValue(json, new TypeReference<Map<String, JsonNode>>() {}))
                : ClaimConditions.NONE;
    }

    private static List<String> texts(JsonNode array) {
        return array.valueStream().map(JsonNode::textValue).toList();
    }
}
