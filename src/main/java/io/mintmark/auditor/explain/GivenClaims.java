package io.mintmark.auditor.explain;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.json.JacksonFactories;
import io.mintmark.base.json.StrictJson;
import io.mintmark.broker.token.ComparableClaims;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Claims to be explained, as conditions see them. Errors never quote the input, because it may be a
 * token.
 */
public record GivenClaims(ObjectNode claims) {
    /** Claims can't be explained. The message is for people. */
    public static final class UnusableClaims extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private UnusableClaims(String message) {
            super(message);
        }
    }

    private static final ObjectMapper JSON =
            JacksonFactories.mapper()
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .build();
    private static final int LONGEST_SUBJECT = 1024;

    /** The maximum length in bytes. A token isn't longer. */
    private static final int LONGEST = 16 * 1024;

    /** Reads the claims of a token, or of a JSON object with claims. */
    public static GivenClaims of(String text) {
        if (text.startsWith("{")) {
            return new GivenClaims(asBroker(text.getBytes(StandardCharsets.UTF_8)));
        }
        String[] parts = text.split("\\.", -1);
        try {
            return new GivenClaims(
                    asBroker(Base64.getUrlDecoder().decode(parts[parts.length == 3 ? 1 : 0])));
        } catch (IllegalArgumentException e) {
            throw new UnusableClaims(
                    "the input is neither a token nor a JSON object of " + "claims");
        }
    }

    /** The claims that a row records by names and pointers, as the object that these point into. */
    public static GivenClaims recorded(String byPointer) {
        ObjectNode claims = JSON.createObjectNode();
        ObjectNode recorded = object(byPointer);
        recorded.properties().stream()
                .filter(claim -> !claim.getKey().startsWith("/"))
                .forEach(claim -> claims.set(claim.getKey(), claim.getValue()));
        recorded.properties().stream()
                .filter(claim -> claim.getKey().startsWith("/"))
                .forEach(claim ->
                        unfold(claims, JsonPointer.compile(claim.getKey()), claim.getValue()));
        return new GivenClaims(claims);
    }

    /**
     * Adds the claim that a pointer names. A number in the pointer becomes a member of that name,
     * which the same pointer finds.
     */
    private static void unfold(ObjectNode into, JsonPointer pointer, JsonNode value) {
        String name = pointer.getMatchingProperty();
        if (pointer.tail().matches()) {
            into.set(name, value);
        } else if (into.path(name).isMissingNode()) {
            unfold(into.putObject(name), pointer.tail(), value);
        } else if (into.path(name) instanceof ObjectNode inner) {
            unfold(inner, pointer.tail(), value);
        }
    }

    /** The claim {@code sub}, if the broker accepts it. */
    public String subject() {
        JsonNode subject = claims.path("sub");
        if (subject.isMissingNode() || subject.isNull()) {
            throw new UnusableClaims(
                    "the claims have no sub; the broker rejects such tokens with missing_claim");
        }
        String text = subject.asText();
        boolean usable =
                subject.isTextual()
                        && !text.isEmpty()
                        && text.codePointCount(0, text.length()) <= LONGEST_SUBJECT
                        && text.chars().noneMatch(Character::isISOControl);
        if (!usable) {
            throw new UnusableClaims(
                    "sub must be a string of 1 to %d characters without control characters; the broker rejects other tokens as malformed_jwt"
                            .formatted(LONGEST_SUBJECT));
        }
        return text;
    }

    public String issuer() {
        return comparable().path("iss").asText();
    }

    public List<String> audiences() {
        JsonNode claim = comparable().path("aud");
        List<String> audiences = new ArrayList<>();
        if (claim.isTextual()) {
            audiences.add(claim.textValue());
        }
        claim.elements().forEachRemaining(one -> audiences.add(one.asText()));
        return audiences;
    }

    /** The claims as the JSON that {@code broker.explain} takes. */
    public String json() {
        return comparable().toString();
    }

    private ObjectNode comparable() {
        return ComparableClaims.of(claims);
    }

    /** Parses claims with the limits that the broker applies to the claims of a token. */
    private static ObjectNode asBroker(byte[] utf8) {
        return StrictJson.object(utf8, LONGEST)
                .orElseThrow(() ->
                        new UnusableClaims(
                                place(utf8)
                                        + ("the claims are not a valid JSON object; limits: %d"
                                                        + " bytes, %d levels, no duplicate"
                                                        + " fields, nothing after the"
                                                        + " end, no numbers beyond"
                                                        + " PostgreSQL's"
                                                        + " range")
                                                .formatted(LONGEST, StrictJson.DEEPEST)));
    }

    private static String place(byte[] utf8) {
        return utf8.length > LONGEST
                ? ""
                : StrictJson.fault(utf8)
                        .map(at -> "line %d, column %d: ".formatted(at.line(), at.column()))
                        .orElse("");
    }

    private static ObjectNode object(String json) {
        try {
            if (JSON.readTree(json) instanceof ObjectNode object) {
                return object;
            }
        } catch (JsonProcessingException e) {
            throw new UnusableClaims("the claims are not a JSON object");
        }
        throw new UnusableClaims("the claims are not a JSON object");
    }

    /** Claims are personal; none is shown. */
    @Override
    public String toString() {
        return "GivenClaims[%d]".formatted(claims.size());
    }
}
