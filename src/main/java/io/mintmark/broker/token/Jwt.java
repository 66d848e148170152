package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.util.Base64URL;

import io.mintmark.base.json.StrictJson;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A parsed token (RFC 7515 section 7.1): well-formed, but not verified.
 *
 * <p>Not thread-safe. Parsed claims can take twenty times the memory of the token, so they can be
 * dropped while they aren't needed.
 */
final class Jwt {
    private static final int MAX_LENGTH = 16 * 1024;
    private static final int PARTS = 3;

    private final String algorithm;
    private final Optional<String> keyId;
    private final Optional<String> issuer;
    private final String header;
    private final String payload;
    private final Base64URL signature;
    private @Nullable ObjectNode claims;

    private Jwt(
            String algorithm,
            Optional<String> keyId,
            Optional<String> issuer,
            ObjectNode claims,
            List<String> parts) {
        this.algorithm = algorithm;
        this.keyId = keyId;
        this.issuer = issuer;
        this.claims = claims;
        this.header = parts.get(0);
        this.payload = parts.get(1);
        this.signature = new Base64URL(parts.get(2));
    }

    /** Takes a text apart; empty if it isn't a token in its one proper form. */
    static Optional<Jwt> parse(String text) {
        if (text.length() > MAX_LENGTH) {
            return Optional.empty();
        }
        List<String> parts = List.of(text.split("\\.", -1));
        if (parts.size() != PARTS || CanonicalBase64.decode(parts.get(2)).isEmpty()) {
            return Optional.empty();
        }
        return object(parts.get(0))
                .flatMap(header -> object(parts.get(1)).flatMap(c -> of(header, c, parts)));
    }

    /** The header's {@code alg}. */
    String algorithm() {
        return algorithm;
    }

    /** The header's {@code kid}. */
    Optional<String> keyId() {
        return keyId;
    }

    /** The claim {@code iss}. */
    Optional<String> issuer() {
        return issuer;
    }

    Base64URL signature() {
        return signature;
    }

    /** The unverified claims. */
    ObjectNode claims() {
        ObjectNode parsed = claims;
        if (parsed == null) {
            parsed = object(payload).orElseThrow();
            claims = parsed;
        }
        return parsed;
    }

    /** Has the claims parsed again when they are needed. */
    void dropClaims() {
        claims = null;
    }

    /**
     * The audiences that select the provider: all strings in {@code aud}. The type of the claim is
     * checked after the signature.
     */
    Set<String> audiences() {
        JsonNode claim = claims().path("aud");
        if (claim.isTextual()) {
            return Set.of(claim.textValue());
        }
        return claim.isArray()
                ? claim.valueStream()
                        .filter(JsonNode::isTextual)
                        .map(JsonNode::textValue)
                        .collect(Collectors.toCollection(LinkedHashSet::new))
                : Set.of();
    }

    /** What the signature is over. */
    byte[] signedBytes() {
        return (header + "." + payload).getBytes(StandardCharsets.US_ASCII);
    }

    private static Optional<ObjectNode> object(String part) {
        return CanonicalBase64.decode(part).flatMap(json -> StrictJson.object(json, MAX_LENGTH));
    }

    /** {@code crit} (RFC 7515 section 4.1.11) demands extensions to be understood; none is. */
    private static Optional<Jwt> of(ObjectNode header, ObjectNode claims, List<String> parts) {
        JsonNode issuer = claims.path("iss");
        boolean formed =
                !header.has("crit")
                        && Text.isUsable(header.path("alg"), Text.NAME)
                        && (!header.has("kid") || Text.isUsable(header.path("kid"), Text.NAME))
                        && (isAbsent(issuer) || Text.isUsable(issuer, Text.NAME));
        if (!formed) {
            return Optional.empty();
        }
        return Optional.of(
                new Jwt(
                        header.path("alg").textValue(),
                        Optional.ofNullable(header.path("kid").textValue()),
                        Optional.ofNullable(issuer.textValue()),
                        claims,
                        parts));
    }

    private static boolean isAbsent(JsonNode claim) {
        return claim.isMissingNode() || claim.isNull();
    }

    /** Neither claims nor signature. */
    @Override
    public String toString() {
        return "Jwt[algorithm=%s]".formatted(algorithm);
    }

    /**
     * base64url without padding (RFC 7515 section 2), in the one spelling that encoding yields:
     * else a token could be respelled, and its hash would not find it again.
     */
    private static final class CanonicalBase64 {
        private CanonicalBase64() {}

        static Optional<byte[]> decode(String text) {
            try {
                byte[] bytes = Base64.getUrlDecoder().decode(text);
                String canonical = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
                return canonical.equals(text) ? Optional.of(bytes) : Optional.empty();
            } catch (IllegalArgumentException e) {
                return Optional.empty();
            }
        }
    }
}
