package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.util.Base64URL;

import io.mintmark.base.json.StrictJson;
import io.mintmark.base.verdict.TokenRefusal.MalformedJwt;
import io.mintmark.base.verdict.Verdict;

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

    /** Parts of an encrypted one (RFC 7516 section 7.1). */
    private static final int JWE = 5;

    /** The value for a {@code typ} that isn't text. */
    private static final String NO_TYPE = "";

    private static final String KEY_ID = "kid";

    private final String algorithm;
    private final Optional<String> keyId;
    private final Optional<String> type;
    private final Optional<String> issuer;
    private final String header;
    private final String payload;
    private final Base64URL signature;
    private @Nullable ObjectNode claims;

    private Jwt(
            String algorithm,
            Optional<String> keyId,
            Optional<String> type,
            Optional<String> issuer,
            ObjectNode claims,
            List<String> parts) {
        this.algorithm = algorithm;
        this.keyId = keyId;
        this.type = type;
        this.issuer = issuer;
        this.claims = claims;
        this.header = parts.get(0);
        this.payload = parts.get(1);
        this.signature = new Base64URL(parts.get(2));
    }

    /** Takes a text apart; refused if it isn't a token in its one proper form. */
    static Verdict<Jwt> parse(String text) {
        if (text.length() > MAX_LENGTH) {
            return malformed("the token is longer than %d characters".formatted(MAX_LENGTH));
        }
        List<String> parts = List.of(text.split("\\.", -1));
        if (parts.size() != PARTS) {
            return malformed(
                    "the token has %d parts between dots instead of 3%s"
                            .formatted(
                                    parts.size(),
                                    parts.size() == JWE ? ", as an encrypted token has" : ""));
        }
        if (CanonicalBase64.decode(parts.get(2)).isEmpty()) {
            return malformed("the signature is not base64url without padding");
        }
        return object(parts.get(0), "its header")
                .then(header -> object(parts.get(1), "its body").then(c -> of(header, c, parts)));
    }

    private static <T> Verdict<T> malformed(String fault) {
        return Verdict.refused(new MalformedJwt(fault));
    }

    /** The header's {@code alg}. */
    String algorithm() {
        return algorithm;
    }

    /** The header's {@code kid}. */
    Optional<String> keyId() {
        return keyId;
    }

    /** The header's {@code typ}; empty text for one that isn't text. */
    Optional<String> type() {
        return type;
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
            parsed = CanonicalBase64.decode(payload).flatMap(Jwt::json).orElseThrow();
            claims = parsed;
        }
        return parsed;
    }

    /** Drops the parsed claims, which are parsed again when they are needed. */
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

    /** The bytes that the signature covers. */
    byte[] signedBytes() {
        return (header + "." + payload).getBytes(StandardCharsets.US_ASCII);
    }

    private static Verdict<ObjectNode> object(String part, String where) {
        Optional<byte[]> decoded = CanonicalBase64.decode(part);
        if (decoded.isEmpty()) {
            return malformed(where + " is not base64url without padding");
        }
        return json(decoded.get())
                .map(Verdict::passed)
                .orElseGet(() ->
                        malformed(
                                where
                                        + " is not a JSON object, or a field appears twice or"
                                        + " can't be stored"));
    }

    private static Optional<ObjectNode> json(byte[] utf8) {
        return StrictJson.object(utf8, MAX_LENGTH);
    }

    private static Verdict<Jwt> of(ObjectNode header, ObjectNode claims, List<String> parts) {
        Optional<String> fault = fault(header, claims);
        if (fault.isPresent()) {
            return malformed(fault.get());
        }
        return Verdict.passed(
                new Jwt(
                        header.path("alg").textValue(),
                        Optional.ofNullable(header.path(KEY_ID).textValue()),
                        Optional.of(header.path("typ"))
                                .filter(type -> !type.isMissingNode())
                                .map(type -> type.isTextual() ? type.textValue() : NO_TYPE),
                        Optional.ofNullable(claims.path("iss").textValue()),
                        claims,
                        parts));
    }

    /** {@code crit} (RFC 7515 section 4.1.11) demands extensions to be understood; none is. */
    private static Optional<String> fault(ObjectNode header, ObjectNode claims) {
        JsonNode issuer = claims.path("iss");
        if (header.has("crit")) {
            return Optional.of("header 'crit' requires extensions, but the broker supports none");
        }
        return Text.fault(header.path("alg"), Text.NAME)
                .map("header 'alg' %s"::formatted)
                .or(() ->
                        Optional.of(header.path(KEY_ID))
                                .filter(_ -> header.has(KEY_ID))
                                .flatMap(kid -> Text.fault(kid, Text.NAME))
                                .map("header 'kid' %s"::formatted))
                .or(() ->
                        Optional.of(issuer)
                                .filter(i -> !isAbsent(i))
                                .flatMap(i -> Text.fault(i, Text.NAME))
                                .map("claim 'iss' %s"::formatted))
                .or(() ->
                        ActClaim.isFormed(claims)
                                ? Optional.empty()
                                : Optional.of(
                                        "claim 'act' is not an object, or is nested more than %d levels deep"
                                                .formatted(ActClaim.DEEPEST)));
    }

    private static boolean isAbsent(JsonNode claim) {
        return claim.isMissingNode() || claim.isNull();
    }

    /** Shows neither claims nor signature. */
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
