package io.mintmark.token;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.tenant.Glob;

import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What one claim must be, read once and held against many tokens.
 *
 * @param pointer where the claim is, if its name says it so
 * @param anyOf what it may be
 */
record ClaimCondition(String claim, Optional<JsonPointer> pointer, List<Expected> anyOf) {
    private static final Pattern POINTER = Pattern.compile("(/([^~/]|~[01])*)+");

    /** One value that a claim may have. */
    private sealed interface Expected {

        boolean fits(JsonNode value);

        /** At most how much work that is; see {@link MatchingBudget}. */
        default long steps(JsonNode value) {
            return 8;
        }

        record Same(JsonNode expected) implements Expected {
            @Override
            public boolean fits(JsonNode value) {
                return value.isValueNode() && expected.equals(value);
            }
        }

        record SameNumber(BigDecimal expected) implements Expected {
            @Override
            public boolean fits(JsonNode value) {
                return isFinite(value) && expected.compareTo(value.decimalValue()) == 0;
            }

            @Override
            public long steps(JsonNode value) {
                return value.isNumber() ? 100 : 8;
            }
        }

        record Matching(Glob glob) implements Expected {
            @Override
            public boolean fits(JsonNode value) {
                return value.isTextual() && glob.matches(value.textValue());
            }

            @Override
            public long steps(JsonNode value) {
                return value.isTextual() ? 8 + glob.steps(value.textValue()) : 8;
            }
        }
    }

    /**
     * Reads a condition.
     *
     * @throws IllegalArgumentException naming the claim if it could never be evaluated
     */
    static ClaimCondition of(String claim, JsonNode condition) {
        if (claim.startsWith("/") && !POINTER.matcher(claim).matches()) {
            throw unsound(claim);
        }
        List<JsonNode> anyOf =
                condition.isArray() ? condition.valueStream().toList() : List.of(condition);
        if (anyOf.isEmpty()) {
            throw unsound(claim);
        }
        return new ClaimCondition(
                claim,
                claim.startsWith("/") ? Optional.of(JsonPointer.compile(claim)) : Optional.empty(),
                anyOf.stream().map(one -> expected(claim, one)).toList());
    }

    private static Expected expected(String claim, JsonNode one) {
        if (one.isTextual() || one.isBoolean()) {
            return new Expected.Same(one);
        }
        if (isFinite(one)) {
            return new Expected.SameNumber(one.decimalValue());
        }
        if (one.isObject() && one.size() == 1 && one.path("glob").isTextual()) {
            return new Expected.Matching(glob(claim, one.path("glob").textValue()));
        }
        throw unsound(claim);
    }

    private static Glob glob(String claim, String pattern) {
        try {
            return new Glob(pattern);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "condition on claim '%s': %s".formatted(claim, e.getMessage()), e);
        }
    }

    private static IllegalArgumentException unsound(String claim) {
        return new IllegalArgumentException(
                ("condition on claim '%s': a name is a claim or a JSON pointer; its value is a"
                                + " text, a number, true, false, {\"glob\": \"…\"}, or a"
                                + " non-empty array of these")
                        .formatted(claim));
    }

    private static boolean isFinite(JsonNode node) {
        return node.isNumber() && Double.isFinite(node.doubleValue());
    }

    /** How much work it is to find the claim. */
    long stepsToFind() {
        return 16L + claim.length();
    }

    boolean isMetBy(JsonNode claims, MatchingBudget budget) {
        budget.spend(stepsToFind());
        JsonNode found = pointer.map(claims::at).orElseGet(() -> claims.path(claim));
        for (Expected expected : anyOf) {
            for (JsonNode value : found.isArray() ? found : List.of(found)) {
                budget.spend(expected.steps(value));
                if (expected.fits(value)) {
                    return true;
                }
            }
        }
        return false;
    }
}
