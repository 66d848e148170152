package io.mintmark.token;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.tenant.Glob;

import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Conditions on the claims of a token, all of which must hold. Each names a claim and what it must
 * be:
 *
 * <ul>
 *   <li>a text, number or boolean: equal in type and value; numbers are compared as numbers, so 1
 *       equals 1.0, and "1" equals neither;
 *   <li>{@code {"glob": "…"}}: a text that the {@link Glob} matches;
 *   <li>an array of these: one of them.
 * </ul>
 *
 * A claim that is an array meets a condition if one of its elements does. A name that starts with
 * {@code /} is a JSON pointer (RFC 6901), any other names a member of the claims as it is. A claim
 * that is absent, null or an object meets nothing.
 *
 * @param byClaim in the order of the names
 */
public record ClaimConditions(Map<String, JsonNode> byClaim) {
    private static final Pattern POINTER = Pattern.compile("(/([^~/]|~[01])*)+");

    /** No condition at all. */
    public static final ClaimConditions NONE = new ClaimConditions(Map.of());

    /**
     * A condition that isn't met.
     *
     * @param seen what the token has there, if anything
     */
    public record Unmet(String claim, JsonNode expected, Optional<JsonNode> seen) {
        /** The claim's name alone: values are personal. */
        @Override
        public String toString() {
            return "Unmet[%s]".formatted(claim);
        }
    }

    /**
     * Reads conditions.
     *
     * @throws IllegalArgumentException naming the claim whose condition could never be evaluated
     */
    public ClaimConditions {
        SortedMap<String, JsonNode> sorted = new TreeMap<>();
        byClaim.forEach((claim, condition) -> sorted.put(claim, condition.deepCopy()));
        sorted.forEach(ClaimConditions::requireSound);
        byClaim = Collections.unmodifiableSortedMap(sorted);
    }

    /** The first condition, by the names of the claims, that these claims don't meet. */
    public Optional<Unmet> firstUnmet(JsonNode claims) {
        return byClaim.entrySet().stream()
                .filter(entry -> !isMet(entry.getValue(), at(claims, entry.getKey())))
                .map(entry -> unmet(entry.getKey(), entry.getValue(), claims))
                .findFirst();
    }

    private static Unmet unmet(String claim, JsonNode expected, JsonNode claims) {
        JsonNode seen = at(claims, claim);
        return new Unmet(
                claim, expected, seen.isMissingNode() ? Optional.empty() : Optional.of(seen));
    }

    private static JsonNode at(JsonNode claims, String name) {
        return name.startsWith("/") ? claims.at(JsonPointer.compile(name)) : claims.path(name);
    }

    private static boolean isMet(JsonNode condition, JsonNode claim) {
        if (condition.isArray()) {
            return condition.valueStream().anyMatch(one -> isMet(one, claim));
        }
        return claim.isArray()
                ? claim.valueStream().anyMatch(element -> fits(condition, element))
                : fits(condition, claim);
    }

    private static boolean fits(JsonNode condition, JsonNode value) {
        if (condition.isObject()) {
            return value.isTextual()
                    && new Glob(condition.path("glob").textValue()).matches(value.textValue());
        }
        if (condition.isNumber()) {
            return isFinite(value) && condition.decimalValue().compareTo(value.decimalValue()) == 0;
        }
        return value.isValueNode() && condition.equals(value);
    }

    private static void requireSound(String claim, JsonNode condition) {
        boolean soundName = !claim.startsWith("/") || POINTER.matcher(claim).matches();
        boolean sound =
                condition.isArray()
                        ? !condition.isEmpty()
                                && condition.valueStream().allMatch(ClaimConditions::isSound)
                        : isSound(condition);
        if (!soundName || !sound) {
            throw new IllegalArgumentException(
                    ("condition on claim '%s': a name is a claim or a JSON pointer; its value is a"
                                    + " text, a number, true, false, {\"glob\": \"…\"}, or a"
                                    + " non-empty array of these")
                            .formatted(claim));
        }
    }

    private static boolean isSound(JsonNode condition) {
        return condition.isTextual()
                || condition.isBoolean()
                || isFinite(condition)
                || (condition.isObject()
                        && condition.size() == 1
                        && condition.path("glob").isTextual());
    }

    private static boolean isFinite(JsonNode node) {
        return node.isNumber() && Double.isFinite(node.doubleValue());
    }
}
