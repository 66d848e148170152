package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.Optional;

/** Limits on the texts that a token's claims and header may hold. */
final class Text {
    /**
     * The maximum length of {@code iss}, {@code jti}, {@code kid} and {@code alg}, in characters.
     */
    static final int NAME = 255;

    /** The maximum length of {@code sub}, in characters. */
    static final int SUBJECT = 1024;

    private Text() {}

    /**
     * The reason why a value isn't a text that is usable: not empty, at most {@code most}
     * characters, no control characters.
     */
    static Optional<String> fault(JsonNode node, int most) {
        if (node.isMissingNode()) {
            return Optional.of("is missing");
        }
        return node.isTextual()
                ? fault(node.textValue(), most)
                : Optional.of("is %s instead of a string".formatted(kind(node)));
    }

    /** Whether a text is usable. */
    static boolean isUsable(String text, int most) {
        return fault(text, most).isEmpty();
    }

    private static Optional<String> fault(String text, int most) {
        if (text.isEmpty()) {
            return Optional.of("is empty");
        }
        if (text.codePointCount(0, text.length()) > most) {
            return Optional.of("has more than %d characters".formatted(most));
        }
        return text.chars().anyMatch(Character::isISOControl)
                ? Optional.of("has a control character")
                : Optional.empty();
    }

    /** The kind of a JSON value, in words. */
    static String kind(JsonNode node) {
        return switch (node.getNodeType()) {
            case STRING -> "text";
            case NUMBER -> "a number";
            case BOOLEAN -> "a boolean";
            case OBJECT -> "an object";
            case ARRAY -> "a list";
            case NULL -> "null";
            case MISSING -> "missing";
            case BINARY, POJO -> "something else";
        };
    }
}
