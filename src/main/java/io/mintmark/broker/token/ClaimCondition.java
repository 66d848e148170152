package io.mintmark.broker.token;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.Glob;

import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * The condition on one claim, parsed once and matched against many tokens.
 *
 * @param pointer the claim's place, if its name is a JSON pointer
 * @param anyOf the accepted values
 */
record ClaimCondition(String claim, Optional<JsonPointer> pointer, List<Expected> anyOf) {
    private static final long NAMING = 16;
    private static final long COMPARING = 8;

    private sealed interface Expected {

        boolean fits(JsonNode value);

        /** The additional steps that a match can take, compared with a plain comparison. */
        default long steps(JsonNode value) {
            return 0;
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
        }

        record Matching(Glob glob) implements Expected {
            @Override
            public boolean fits(JsonNode value) {
                return value.isTextual() && glob.matches(value.textValue());
            }

            @Override
            public long steps(JsonNode value) {
                return value.isTextual() ? glob.steps(value.textValue()) : 0;
            }
        }
    }

    /**
     * Reads a condition.
     *
     * @throws IllegalArgumentException naming the claim if it could never be evaluated
     */
    static ClaimCondition of(String claim, JsonNode condition) {
        if (claim.startsWith("/") && !isPointer(claim)) {
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

    /** Whether a name with a slash in front is a JSON pointer (RFC 6901 section 3). */
    private static boolean isPointer(String claim) {
        for (int at = claim.indexOf('~'); at >= 0; at = claim.indexOf('~', at + 1)) {
            if (!claim.startsWith("0", at + 1) && !claim.startsWith("1", at + 1)) {
                return false;
            }
        }
        return true;
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
                "condition on claim '%s': the name must be a claim or a JSON pointer, and the value must be a string, a number, true, false, {\"glob\": \"…\"}, or a non-empty list of these"
                        .formatted(claim));
    }

    private static boolean isFinite(JsonNode node) {
        return node.isNumber() && Double.isFinite(node.doubleValue());
    }

    /**
     * At most how much work {@link #isMetBy} is, and naming the claim on record. More than any
     * budget isn't counted to its end.
     *
     * @param found what {@link #find} found
     */
    long steps(JsonNode found) {
        Iterable<JsonNode> values = values(found);
        long steps = 2 * (NAMING + claim.length());
        for (JsonNode value : values) {
            steps += COMPARING * anyOf.size();
            for (Expected expected : anyOf) {
                steps += expected.steps(value);
            }
            if (steps > MatchingBudget.STEPS) {
                break;
            }
        }
        return steps;
    }

    boolean isMetBy(JsonNode found) {
        for (JsonNode value : values(found)) {
            if (anyOf.stream().anyMatch(expected -> expected.fits(value))) {
                return true;
            }
        }
        return false;
    }

    /** The claim among those of a token. */
    JsonNode find(JsonNode claims) {
        return pointer.map(claims::at).orElseGet(() -> claims.path(claim));
    }

    private static Iterable<JsonNode> values(JsonNode found) {
        return found.isArray() ? found : List.of(found);
    }
}
