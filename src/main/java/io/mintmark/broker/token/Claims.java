package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.verdict.TokenRefusal.MalformedJwt;
import io.mintmark.base.verdict.TokenRefusal.MissingClaim;
import io.mintmark.base.verdict.Verdict;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** The registered claims of a token whose signature is verified, present and of their types. */
record Claims(
        String subject,
        List<String> audience,
        Instant expiresAt,
        Instant issuedAt,
        Optional<Instant> notBefore,
        Optional<String> tokenId) {

    /** HTTP API section 5.3, in its order. */
    private static final List<Rule> RULES =
            List.of(
                    new Rule("aud", true, Claims::isAudience),
                    new Rule("sub", true, claim -> Text.isUsable(claim, Text.SUBJECT)),
                    new Rule("exp", true, Claims::isTime),
                    new Rule("iat", true, Claims::isTime),
                    new Rule("nbf", false, Claims::isTime),
                    new Rule("jti", false, claim -> Text.isUsable(claim, Text.NAME)));

    private record Rule(String claim, boolean required, Predicate<JsonNode> form) {}

    /**
     * Reads the claims of {@code jwt} in turn; the first that is missing or of a wrong type
     * decides.
     *
     * @param withId whether {@code jti} must be there
     */
    static Verdict<Claims> read(Jwt jwt, boolean withId) {
        for (Rule rule : RULES) {
            JsonNode claim = jwt.claims().path(rule.claim());
            boolean required = rule.required() || (withId && rule.claim().equals("jti"));
            if (isAbsent(claim) || (rule.claim().equals("aud") && isEmptyText(claim))) {
                if (required) {
                    return Verdict.refused(new MissingClaim(rule.claim()));
                }
            } else if (!rule.form().test(claim)) {
                return Verdict.refused(new MalformedJwt());
            }
        }
        return Verdict.passed(of(jwt));
    }

    private static Claims of(Jwt jwt) {
        ObjectNode claims = jwt.claims();
        return new Claims(
                claims.path("sub").textValue(),
                List.copyOf(jwt.audiences()),
                NumericDate.of(claims.path("exp")).orElseThrow(),
                NumericDate.of(claims.path("iat")).orElseThrow(),
                NumericDate.of(claims.path("nbf")),
                Optional.ofNullable(claims.path("jti").textValue()));
    }

    private static boolean isAbsent(JsonNode claim) {
        return claim.isMissingNode()
                || claim.isNull()
                || (claim.isContainerNode() && claim.isEmpty());
    }

    private static boolean isEmptyText(JsonNode claim) {
        return claim.isTextual() && claim.textValue().isEmpty();
    }

    private static boolean isAudience(JsonNode claim) {
        return claim.isTextual()
                || (claim.isArray() && claim.valueStream().allMatch(JsonNode::isTextual));
    }

    private static boolean isTime(JsonNode claim) {
        return NumericDate.of(claim).isPresent();
    }

    /** Claims are personal; none is shown. */
    @Override
    public String toString() {
        return "Claims[expiresAt=%s]".formatted(expiresAt);
    }

    /**
     * Seconds since 1970, possibly with a fraction (RFC 7519 section 2). Only times with a year of
     * four digits are accepted, so that every store and display can hold them.
     */
    private static final class NumericDate {
        private static final BigDecimal FIRST =
                BigDecimal.valueOf(Instant.parse("0001-01-01T00:00:00Z").getEpochSecond());
        private static final BigDecimal LAST =
                BigDecimal.valueOf(Instant.parse("9999-12-31T23:59:59Z").getEpochSecond());
        private static final int NANO_DIGITS = 9;

        private NumericDate() {}

        static Optional<Instant> of(JsonNode node) {
            if (!node.isNumber()) {
                return Optional.empty();
            }
            BigDecimal seconds = node.decimalValue();
            if (seconds.compareTo(FIRST) < 0 || seconds.compareTo(LAST) > 0) {
                return Optional.empty();
            }
            BigDecimal whole = seconds.setScale(0, RoundingMode.FLOOR);
            long nanos = seconds.subtract(whole).movePointRight(NANO_DIGITS).longValue();
            return Optional.of(Instant.ofEpochSecond(whole.longValueExact(), nanos));
        }
    }
}
