package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Authority;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

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

    /** The settings that can't be left out, which contradict no others, and those named. */
    public static ObjectNode required(JsonNode rules, String... further) {
        ObjectNode examples = of(rules);
        Set<String> names = new HashSet<>(List.of(further));
        rules.properties()
                .forEach(rule -> {
                    if (rule.getValue().path("required").booleanValue()) {
                        names.add(rule.getKey());
                        names.addAll(texts(rule.getValue(), "needs_one_of", 1));
                    }
                });
        for (String name : List.copyOf(names)) {
            names.addAll(texts(rules.path(name).path("needs"), "*", Integer.MAX_VALUE));
        }
        return examples.retain(names);
    }

    private static List<String> texts(JsonNode rule, String list, int most) {
        return rule.path(list).valueStream().limit(most).map(JsonNode::asText).toList();
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
