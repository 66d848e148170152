package io.mintmark.token;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.verdict.Unavailable;

import org.jspecify.annotations.Nullable;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Conditions on the claims of a token, all of which must hold. Each names a claim and what it must
 * be:
 *
 * <ul>
 *   <li>a text, number or boolean: equal in type and value; numbers are compared as numbers, so 1
 *       equals 1.0, and "1" equals neither;
 *   <li>{@code {"glob": "…"}}: a text that the {@link io.mintmark.tenant.Glob} matches;
 *   <li>an array of these: one of them.
 * </ul>
 *
 * A claim that is an array meets a condition if one of its elements does. A name that starts with
 * {@code /} is a JSON pointer (RFC 6901), any other names a member of the claims as it is. A claim
 * that is absent, null or an object meets nothing.
 */
public final class ClaimConditions {

    /** No condition at all. */
    public static final ClaimConditions NONE = new ClaimConditions(Map.of());

    private final Map<String, JsonNode> byClaim;
    private final List<ClaimCondition> conditions;

    /**
     * Reads conditions.
     *
     * @throws IllegalArgumentException naming the claim whose condition could never be evaluated
     */
    public ClaimConditions(Map<String, JsonNode> byClaim) {
        SortedMap<String, JsonNode> sorted = new TreeMap<>();
        byClaim.forEach((claim, condition) -> sorted.put(claim, condition.deepCopy()));
        this.byClaim = Collections.unmodifiableSortedMap(sorted);
        this.conditions =
                sorted.entrySet().stream()
                        .map(entry -> ClaimCondition.of(entry.getKey(), entry.getValue()))
                        .toList();
    }

    /** What each claim must be, in the order of the names. */
    public Map<String, JsonNode> byClaim() {
        return byClaim;
    }

    /**
     * Whether these claims meet all of the conditions.
     *
     * @throws Unavailable if that is more work than the budget allows
     */
    public boolean areMetBy(JsonNode claims, MatchingBudget budget) {
        budget.spend(steps(claims));
        return conditions.stream().allMatch(condition -> condition.isMetBy(claims));
    }

    /** At most how much work that is; {@code internal.claims_steps} counts the same. */
    private long steps(JsonNode claims) {
        return conditions.stream().mapToLong(condition -> condition.steps(claims)).sum();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ClaimConditions that && byClaim.equals(that.byClaim);
    }

    @Override
    public int hashCode() {
        return byClaim.hashCode();
    }

    @Override
    public String toString() {
        return byClaim.toString();
    }
}
