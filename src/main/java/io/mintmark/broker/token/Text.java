package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;

/** Limits on the texts that a token's claims and header may hold. */
final class Text {
    /** Of {@code iss}, {@code jti}, {@code kid} and {@code alg}, in characters. */
    static final int NAME = 255;

    /** Of {@code sub}, in characters. */
    static final int SUBJECT = 1024;

    private Text() {}

    /** Whether it is a text, not empty, not over {@code most}, without control characters. */
    static boolean isUsable(JsonNode node, int most) {
        if (!node.isTextual()) {
            return false;
        }
        String text = node.textValue();
        int length = text.codePointCount(0, text.length());
        return length > 0 && length <= most && text.chars().noneMatch(Character::isISOControl);
    }
}
