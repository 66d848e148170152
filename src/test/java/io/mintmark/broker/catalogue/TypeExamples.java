package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Authority;

/** Settings of every type, from the rules in {@code broker.provider_type}. */
public final class TypeExamples {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CERTIFICATE = certificate();

    private TypeExamples() {}

    /** Each setting with its example, or a value of its kind, but for what another refuses. */
    public static ObjectNode of(JsonNode rules) {
        ObjectNode examples = JSON.createObjectNode();
        rules.properties().forEach(rule -> examples.set(rule.getKey(), example(rule.getValue())));
        rules.properties()
                .forEach(rule ->
                        refused(rule.getValue(), examples.path(rule.getKey()))
                                .forEach(name -> examples.remove(name.asText())));
        return examples;
    }

    /** What a setting with this value can't be combined with. */
    private static JsonNode refused(JsonNode rule, JsonNode value) {
        JsonNode refused = rule.path("refuses");
        return value.isMissingNode() || !refused.has("*")
                ? refused.path(value.asText())
                : refused.path("*");
    }

    private static JsonNode example(JsonNode rule) {
        String example = rule.path("example").asText("example");
        return switch (rule.path("is").asText()) {
            case "number" -> rule.path("min");
            case "flag" -> JSON.getNodeFactory().booleanNode(true);
            case "list" -> new ArrayNode(JSON.getNodeFactory()).add(example);
            case "policy" -> JSON.createObjectNode();
            case "object" -> json("{\"accessBoundaryRules\": [{}]}");
            case "url" -> JSON.getNodeFactory().textNode(rule.path("default").asText(example));
            case "claim", "claims", "map", "secret" -> json(example);
            case "pem" -> JSON.getNodeFactory().textNode(CERTIFICATE);
            default ->
                    rule.path("one_of").isArray()
                            ? rule.path("one_of").path(0)
                            : JSON.getNodeFactory().textNode(example);
        };
    }

    private static String certificate() {
        return Unchecked.call(() -> new Authority().pem());
    }

    /** Parses what the database has. */
    public static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(text, e);
        }
    }
}
