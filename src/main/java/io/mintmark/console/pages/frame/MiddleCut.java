package io.mintmark.console.pages.frame;

/**
 * A long name in two parts. Where it doesn't fit, a page shortens the first one: names of one
 * system begin alike and differ at their end.
 */
public record MiddleCut(String head, String tail) {
    private static final int TAIL = 16;

    /** The number of characters that fit everywhere. */
    private static final int WHOLE = 24;

    /** The two parts of a name; a short one is all head. */
    public static MiddleCut of(String name) {
        int length = name.codePointCount(0, name.length());
        if (length <= WHOLE) {
            return new MiddleCut(name, "");
        }
        int cut = name.offsetByCodePoints(0, length - TAIL);
        return new MiddleCut(name.substring(0, cut), name.substring(cut));
    }

    boolean isWhole() {
        return tail.isEmpty();
    }
}
