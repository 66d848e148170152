package io.mintmark.provider.gcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import io.mintmark.provider.Settings;

import java.util.Set;

/**
 * A credential access boundary: the upper limit of what a token may do, whatever its service
 * account may.
 *
 * @param options as Google's token service takes it: {@code {"accessBoundary":
 *     {"accessBoundaryRules": […]}}}, as JSON text
 */
record AccessBoundary(String options) {
    private static final String OUTER = "accessBoundary";
    private static final String RULES = "accessBoundaryRules";

    /** IAM documentation, "Credential Access Boundaries overview". */
    private static final int MOST_RULES = 10;

    /**
     * Reads a setting. Google's documentation writes boundaries with and without the outer object,
     * so both are understood. One without rules is refused, since it would bound nothing.
     */
    static AccessBoundary of(Settings settings, String name, JsonNode value) {
        JsonNode inner = value.has(OUTER) && value.size() == 1 ? value.path(OUTER) : value;
        if (inner.isObject()) {
            settings.within(name, inner, Set.of(RULES));
        }
        JsonNode rules = inner.path(RULES);
        if (!rules.isArray() || rules.isEmpty() || rules.size() > MOST_RULES) {
            throw settings.unusable(name, "must have 1 to %d %s".formatted(MOST_RULES, RULES));
        }
        rules.forEach(rule -> {
            if (!rule.isObject()) {
                throw settings.unusable(name, "must have objects as " + RULES);
            }
        });
        return new AccessBoundary(
                JsonNodeFactory.instance.objectNode().set(OUTER, inner).toString());
    }
}
