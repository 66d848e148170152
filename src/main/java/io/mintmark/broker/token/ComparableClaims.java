package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;

/**
 * Claims as conditions see them. U+0000, which PostgreSQL can't store, counts as U+FFFD, so that
 * the service, {@code broker.explain} and the audit log use the same claims.
 */
public final class ComparableClaims {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private ComparableClaims() {}

    /** A copy; of two members whose names become the same the later one counts. */
    public static ObjectNode of(ObjectNode claims) {
        ObjectNode comparable = NODES.objectNode();
        claims.properties()
                .forEach(claim -> comparable.set(text(claim.getKey()), of(claim.getValue())));
        return comparable;
    }

    private static JsonNode of(JsonNode value) {
        return switch (value) {
            case ObjectNode object -> of(object);
            case ArrayNode array -> {
                ArrayNode comparable = NODES.arrayNode(array.size());
                array.forEach(element -> comparable.add(of(element)));
                yield comparable;
            }
            case TextNode text -> NODES.textNode(text(text.textValue()));
            default -> value;
        };
    }

    private static String text(String text) {
        return text.replace('\u0000', '\uFFFD');
    }
}
