package io.mintmark.audit.canonical;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;

/**
 * The text that PostgreSQL prints of a {@code jsonb} value: members by the length of their names,
 * then by byte; a space after colon and comma; numbers without exponent; only what must be escaped
 * is.
 */
public final class StoredJson {
    private static final Comparator<Map.Entry<String, JsonNode>> BY_NAME =
            Comparator.comparing(
                    member -> member.getKey().getBytes(StandardCharsets.UTF_8),
                    Comparator.<byte[]>comparingInt(name -> name.length)
                            .thenComparing(Arrays::compareUnsigned));

    private final StringBuilder text = new StringBuilder();

    private StoredJson() {}

    /** The text of a value that {@link StorableText#fit(JsonNode)} let pass. */
    public static String text(JsonNode value) {
        StoredJson json = new StoredJson();
        json.add(value);
        return json.text.toString();
    }

    private void add(JsonNode value) {
        switch (value) {
            case ObjectNode object -> add(object);
            case ArrayNode array -> add(array);
            default -> {
                if (value.isTextual()) {
                    add(value.textValue());
                } else if (value.isNumber()) {
                    text.append(new BigDecimal(value.asText()).toPlainString());
                } else {
                    text.append(value.asText());
                }
            }
        }
    }

    private void add(ObjectNode object) {
        text.append('{');
        String comma = "";
        for (var member : object.properties().stream().sorted(BY_NAME).toList()) {
            text.append(comma);
            add(member.getKey());
            text.append(": ");
            add(member.getValue());
            comma = ", ";
        }
        text.append('}');
    }

    private void add(ArrayNode array) {
        text.append('[');
        String comma = "";
        for (JsonNode element : array) {
            text.append(comma);
            add(element);
            comma = ", ";
        }
        text.append(']');
    }

    private void add(String string) {
        text.append('"');
        for (int i = 0; i < string.length(); i++) {
            add(string.charAt(i));
        }
        text.append('"');
    }

    private void add(char character) {
        switch (character) {
            case '"' -> text.append("\\\"");
            case '\\' -> text.append("\\\\");
            case '\b' -> text.append("\\b");
            case '\f' -> text.append("\\f");
            case '\n' -> text.append("\\n");
            case '\r' -> text.append("\\r");
            case '\t' -> text.append("\\t");
            default -> {
                if (character < ' ') {
                    text.append("\\u%04x".formatted((int) character));
                } else {
                    text.append(character);
                }
            }
        }
    }
}
