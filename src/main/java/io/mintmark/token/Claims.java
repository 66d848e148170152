package io.mintmark.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.verdict.TokenRefusal.MalformedJwt;
import io.mintmark.verdict.TokenRefusal.MissingClaim;
import io.mintmark.verdict.Verdict;

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
}
