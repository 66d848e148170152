package io.mintmark.audit.text;

import java.util.function.IntPredicate;

/**
 * Text from outside as people read it, with nothing in it that can't be seen: it can't hide a part
 * of itself, pass for another, move the cursor, or turn the direction of what is read.
 */
public final class VisibleText {
    /**
     * Characters in a category of letters, marks or symbols that are still invisible: Unicode's
     * Default_Ignorable_Code_Point, which the JDK doesn't provide, as far as categories don't cover
     * it, and the blank symbols. Pairs of the first and the last one.
     */
    private static final int[] SHAPELESS = {
        0x034F, 0x034F, // combining grapheme joiner
        0x115F, 0x1160, // Hangul fillers
        0x17B4, 0x17B5, // Khmer inherent vowels
        0x180B, 0x180F, // Mongolian variation selectors
        0x2800, 0x2800, // Braille without a dot
        0x3164, 0x3164, // Hangul filler
        0xFE00, 0xFE0F, // variation selectors
        0xFFA0, 0xFFA0, // halfwidth Hangul filler
        0xFFFC, 0xFFFC, // stands for an object, and is often drawn as nothing
        0x13441, 0x13442, // blanks between hieroglyphs
        0x16FE4, 0x16FE4, // Khitan filler
        0x1D159, 0x1D159, // note without a head
        0xE0000, 0xE0FFF, // tags and more variation selectors
    };

    private VisibleText() {}

    /**
     * Shows a text on one line. A character without a visible shape is shown as its number; so is
     * the bracket before such a number, or else a text that spells one would look the same.
     */
    public static String of(String text) {
        return shown(text, VisibleText::isHidden);
    }

    /** Shows a text as {@link #of} does, but keeps newlines. */
    public static String inLines(String text) {
        return shown(text, point -> point != '\n' && isHidden(point));
    }

    private static String shown(String text, IntPredicate hidden) {
        StringBuilder shown = new StringBuilder(text.length());
        text.codePoints()
                .forEach(point -> {
                    if (point == '⟨' || hidden.test(point)) {
                        shown.append("⟨U+%04X⟩".formatted(point));
                    } else {
                        shown.appendCodePoint(point);
                    }
                });
        return shown.toString();
    }

    /**
     * Whether a character is a control character, changes the text's direction, is a space other
     * than U+0020, or is invisible.
     */
    public static boolean isHidden(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR ->
                    true;
            case Character.SPACE_SEPARATOR -> point != ' ';
            default -> isShapeless(point);
        };
    }

    private static boolean isShapeless(int point) {
        for (int i = 0; i < SHAPELESS.length; i += 2) {
            if (SHAPELESS[i] <= point && point <= SHAPELESS[i + 1]) {
                return true;
            }
        }
        return false;
    }
}
