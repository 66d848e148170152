package io.mintmark.admin.subject;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.output.CommandFailed;

import java.util.List;

/** Conditions on claims as they are given to a command, one {@code NAME=VALUE} each. */
final class BlockedClaims {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private BlockedClaims() {}

    /**
     * The conditions in the dialect of grants.
     *
     * @throws CommandFailed for what isn't {@code NAME=VALUE}
     */
    static String json(List<String> claims) {
        ObjectNode conditions = JSON.objectNode();
        for (String claim : claims) {
            int end = claim.indexOf('=');
            if (end <= 0 || end == claim.length() - 1) {
                throw new CommandFailed(
                        "--claim: '%s' isn't NAME=VALUE, such as repository_id=7654321. Nothing was blocked"
                                .formatted(VisibleText.of(claim)));
            }
            add(conditions, claim.substring(0, end), condition(claim.substring(end + 1)));
        }
        return conditions.toString();
    }

    private static JsonNode condition(String value) {
        return value.contains("*") ? JSON.objectNode().put("glob", value) : JSON.textNode(value);
    }

    private static void add(ObjectNode conditions, String name, JsonNode condition) {
        if (conditions.get(name) instanceof ArrayNode several) {
            several.add(condition);
        } else if (conditions.has(name)) {
            conditions.set(name, JSON.arrayNode().add(conditions.get(name)).add(condition));
        } else {
            conditions.set(name, condition);
        }
    }
}
