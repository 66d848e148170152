package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import io.mintmark.base.verdict.Unavailable;

import org.jspecify.annotations.Nullable;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Conditions on the claims of a token, all of which must hold. Each names a claim and its value:
 *
 * <ul>
 *   <li>a text, number or boolean: equal in type and value; numbers are compared as numbers, so 1
 *       equals 1.0, and "1" equals neither;
 *   <li>{@code {"glob": "…"}}: a text that the {@link io.mintmark.base.tenant.Glob} matches;
 *   <li>an array of these: one of them.
 * </ul>
 *
 * A claim that is an array meets a condition if one of its elements does. A name that starts with
 * {@code /} is a JSON pointer (RFC 6901); any other is the name of a top-level claim. A claim that
 * is absent, null or an object meets no condition.
 */
public final class ClaimConditions {

    public static final ClaimConditions NONE = new ClaimConditions(Map.of());

    private static final String ELSEWHERE = "_claim_names";
    private static final String HAS_GROUPS = "hasgroups";

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

    /** The condition on each claim, sorted by name. */
    public Map<String, JsonNode> byClaim() {
        return byClaim;
    }

    public String json() {
        return json(byClaim);
    }

    /**
     * The claims that conditions name, under the names that they have there, and what the token
     * says of those that its issuer left out.
     */
    public SortedMap<String, JsonNode> seenIn(SeenClaims claims) {
        SortedMap<String, JsonNode> seen = new TreeMap<>();
        for (ClaimCondition condition : conditions) {
            JsonNode value = find(condition, claims);
            if (!value.isMissingNode()) {
                seen.put(condition.claim(), value);
            } else if (claims instanceof SeenClaims.OfToken(JsonNode all)) {
                seen.putAll(leftOut(condition.claim(), all));
            }
        }
        return seen;
    }

    /** OpenID Connect Core section 5.6.2, and the form of Entra ID; internal.left_out explains. */
    private static Map<String, JsonNode> leftOut(String claim, JsonNode token) {
        JsonNode elsewhere = token.path(ELSEWHERE).path(claim);
        if (elsewhere.isTextual()) {
            return Map.of(ELSEWHERE, JsonNodeFactory.instance.objectNode().set(claim, elsewhere));
        }
        return claim.equals("groups") && token.path(HAS_GROUPS).booleanValue()
                ? Map.of(HAS_GROUPS, token.path(HAS_GROUPS))
                : Map.of();
    }

    /** Claims or conditions as a JSON object. */
    static String json(Map<String, JsonNode> members) {
        return JsonNodeFactory.instance.objectNode().setAll(members).toString();
    }

    /** Whether there is no condition, so that all claims meet them. */
    public boolean isEmpty() {
        return conditions.isEmpty();
    }

    /**
     * Whether these claims meet all of the conditions.
     *
     * @throws Unavailable if that is more work than the budget allows
     */
    public boolean areMetBy(SeenClaims claims, MatchingBudget budget) {
        // internal.claims_steps counts the same.
        budget.spend(
                conditions.stream()
                        .mapToLong(condition -> condition.steps(find(condition, claims)))
                        .sum());
        return conditions.stream()
                .allMatch(condition -> condition.isMetBy(find(condition, claims)));
    }

    private static JsonNode find(ClaimCondition condition, SeenClaims claims) {
        return switch (claims) {
            case SeenClaims.OfToken(JsonNode all) -> condition.find(all);
            case SeenClaims.OnRecord(JsonNode evaluated) -> evaluated.path(condition.claim());
        };
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
