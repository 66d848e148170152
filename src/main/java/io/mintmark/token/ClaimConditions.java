package io.mintmark.token;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.Map;

/** Conditions on the claims of a token, all of which must hold. */
public record ClaimConditions(Map<String, JsonNode> byClaim) {
    public ClaimConditions {
        byClaim = Map.copyOf(byClaim);
    }

    /** No condition at all. */
    public static final ClaimConditions NONE = new ClaimConditions(Map.of());
}
