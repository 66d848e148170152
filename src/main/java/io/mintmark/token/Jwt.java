package io.mintmark.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.util.Base64URL;

import io.mintmark.json.StrictJson;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * A token taken apart (RFC 7515 section 7.1). Its form is right; nothing that it says is proven.
 *
 * @param algorithm the header's {@code alg}
 * @param keyId the header's {@code kid}
 * @param issuer the claim {@code iss}
 * @param claims as they stand in the token
 * @param signingInput what the signature is over
 */
record Jwt(
        String algorithm,
        Optional<String> keyId,
        Optional<String> issuer,
        ObjectNode claims,
        String signingInput,
        Base64URL signature) {

    private static final int MAX_LENGTH = 16 * 1024;
    private static final int PARTS = 3;

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

    /**
     * The audiences that choose the provider: all texts in {@code aud}. Whether the claim has the
     * right type otherwise is looked at once the signature is verified.
     */
    List<String> audiences() {
        JsonNode claim = claims.path("aud");
        if (claim.isTextual()) {
            return List.of(claim.textValue());
        }
        return claim.isArray() ? distinctTexts(claim) : List.of();
    }

    private static List<String> distinctTexts(JsonNode array) {
        return array.valueStream()
                .filter(JsonNode::isTextual)
                .map(JsonNode::textValue)
                .distinct()
                .toList();
    }

    byte[] signedBytes() {
        return signingInput.getBytes(StandardCharsets.US_ASCII);
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
                        parts.get(0) + "." + parts.get(1),
                        new Base64URL(parts.get(2))));
    }

    private static boolean isAbsent(JsonNode claim) {
        return claim.isMissingNode() || claim.isNull();
    }

    /** Neither claims nor signature. */
    @Override
    public String toString() {
        return "Jwt[algorithm=%s]".formatted(algorithm);
    }
}
