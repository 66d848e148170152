package io.mintmark.audit.note;

import java.util.Base64;

/** Base64 of RFC 4648 section 4, of which only one form is accepted. */
public final class Base64Text {
    private Base64Text() {}

    /**
     * Decodes the text.
     *
     * @throws IllegalArgumentException if it isn't base64 in the accepted form
     */
    public static byte[] bytes(String text) {
        byte[] bytes = Base64.getDecoder().decode(text);
        if (!of(bytes).equals(text)) {
            throw new IllegalArgumentException("the base64 isn't canonical");
        }
        return bytes;
    }

    public static String of(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }
}
