package io.mintmark.audit.canonical;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;

import java.math.BigDecimal;

/**
 * Text from outside, cut to a length and freed of what PostgreSQL can't hold: U+0000, halves of
 * surrogate pairs, numbers beyond its range.
 */
public final class StorableText {
    public static final int NAME = 128;
    public static final int LINE = 512;
    public static final int SUBJECT = 1_024;
    public static final int DETAIL = 2_048;

    /** PostgreSQL's numeric has 16,383 digits after the point, and more before it. */
    private static final int MOST_DIGITS = 16_383;

    private static final char REPLACEMENT = '\uFFFD';
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private StorableText() {}

    /**
     * Cuts a text and replaces what PostgreSQL can't store.
     *
     * @param most the length in UTF-16 units at which it is cut, never within a pair
     */
    public static String fit(String text, int most) {
        return text.length() <= most && isPlain(text) ? text : replaced(text, most);
    }

    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character == 0 || Character.isSurrogate(character)) {
                return false;
            }
        }
        return true;
    }

    private static String replaced(String text, int most) {
        StringBuilder fit = new StringBuilder(Math.min(text.length(), most));
        for (int i = 0; i < text.length(); ) {
            int point = text.codePointAt(i);
            int width = Character.charCount(point);
            if (fit.length() + width > most) {
                break;
            }
            boolean storable = point != 0 && !(point >= 0xD800 && point <= 0xDFFF);
            fit.appendCodePoint(storable ? point : REPLACEMENT);
            i += width;
        }
        return fit.toString();
    }

    /**
     * Makes all texts in a JSON value storable. No text is cut, because the compared values must be
     * on record. A number that is out of range becomes text.
     */
    public static JsonNode fit(JsonNode value) {
        return switch (value) {
            case ObjectNode object -> {
                ObjectNode fit = NODES.objectNode();
                object.properties()
                        .forEach(member ->
                                fit.set(storable(member.getKey()), fit(member.getValue())));
                yield fit;
            }
            case ArrayNode array -> {
                ArrayNode fit = NODES.arrayNode();
                array.forEach(element -> fit.add(fit(element)));
                yield fit;
            }
            case TextNode text -> NODES.textNode(storable(text.textValue()));
            default -> value.isNumber() ? number(value) : value;
        };
    }

    private static String storable(String text) {
        return fit(text, Integer.MAX_VALUE);
    }

    private static JsonNode number(JsonNode value) {
        BigDecimal number = value.decimalValue();
        boolean inRange = Math.abs((long) number.scale()) + number.precision() <= MOST_DIGITS;
        return inRange ? value : NODES.textNode(fit(number.toString(), NAME));
    }
}
