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
import java.util.function.Function;

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
                    new Rule("aud", true, Claims::faultOfAudience),
                    new Rule("sub", true, claim -> Text.fault(claim, Text.SUBJECT)),
                    new Rule("exp", true, NumericDate::fault),
                    new Rule("iat", true, NumericDate::fault),
                    new Rule("nbf", false, NumericDate::fault),
                    new Rule("jti", false, claim -> Text.fault(claim, Text.NAME)));

    /**
     * @param fault what is wrong with a claim that is there, as a predicate of it
     */
    private record Rule(
            String claim, boolean required, Function<JsonNode, Optional<String>> fault) {}

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
                continue;
            }
            Optional<String> fault = rule.fault().apply(claim);
            if (fault.isPresent()) {
                return Verdict.refused(
                        new MalformedJwt("claim '%s' %s".formatted(rule.claim(), fault.get())));
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

    private static Optional<String> faultOfAudience(JsonNode claim) {
        if (claim.isArray()) {
            return claim.valueStream()
                    .filter(element -> !element.isTextual())
                    .findFirst()
                    .map(element -> "is a list that contains %s".formatted(Text.kind(element)));
        }
        return claim.isTextual()
                ? Optional.empty()
                : Optional.of(
                        "is %s instead of a string or a list of strings"
                                .formatted(Text.kind(claim)));
    }

    /** Shows no claim, because claims are personal. */
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

        static Optional<String> fault(JsonNode node) {
            if (!node.isNumber()) {
                return Optional.of(
                        "is %s instead of a number of seconds".formatted(Text.kind(node)));
            }
            return of(node).isPresent()
                    ? Optional.empty()
                    : Optional.of("must be a time in the years 1 to 9999, in seconds since 1970");
        }

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
