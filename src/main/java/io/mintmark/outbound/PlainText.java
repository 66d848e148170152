package io.mintmark.outbound;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * The ASCII letters and digits of a text in lower case, its escapes undone, each with the place in
 * the text that it comes from.
 */
final class PlainText {
    private static final int MOST_PASSES = 4;
    private static final int LONGEST_ENTITY = 10;

    /** ASCII letters and digits, in lower case; 0 for all that isn't compared. */
    private static final byte[] LOWER = lettersAndDigits();

    private char[] characters;
    private int[] starts;
    private int[] ends;
    private int length;

    private PlainText(String text) {
        characters = text.toCharArray();
        length = characters.length;
        starts = new int[length];
        ends = new int[length];
        for (int i = 0; i < length; i++) {
            starts[i] = i;
            ends[i] = i + 1;
        }
    }

    static PlainText of(String text) {
        PlainText plain = new PlainText(text);
        for (int pass = 0; pass < MOST_PASSES && plain.unescape(); pass++) {
            // one layer each
        }
        plain.keepLettersAndDigits();
        return plain;
    }

    /** The characters that are compared, without their positions. */
    static String charactersOf(String text) {
        boolean hasEscapes =
                text.indexOf('%') >= 0 || text.indexOf('\\') >= 0 || text.indexOf('&') >= 0;
        return hasEscapes ? of(text).characters() : raw(text);
    }

    /**
     * Of a text that has no escapes. What isn't Latin-1 becomes a question mark, and so nothing.
     */
    private static String raw(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        return raw(bytes, 0, bytes.length);
    }

    /** Of such a part of a text in Latin-1, whose bytes are overwritten. */
    static String raw(byte[] latin1, int from, int to) {
        int kept = 0;
        for (int i = from; i < to; i++) {
            byte lower = LOWER[Byte.toUnsignedInt(latin1[i])];
            latin1[kept] = lower;
            kept += lower == 0 ? 0 : 1;
        }
        return new String(latin1, 0, kept, StandardCharsets.ISO_8859_1);
    }

    private static byte[] lettersAndDigits() {
        byte[] lower = new byte[256];
        for (char c = '0'; c <= 'z'; c++) {
            if (Character.isLetterOrDigit(c)) {
                lower[c] = (byte) Character.toLowerCase(c);
            }
        }
        return lower;
    }

    String characters() {
        return new String(characters, 0, length);
    }

    /**
     * Marks the parts of the text that contain at least this many characters in a row of another
     * text.
     *
     * @return whether there are any
     */
    boolean mark(String other, int inARow, boolean[] places) {
        if (other.length() < inARow || length < inARow) {
            return false;
        }
        Set<String> pieces = new HashSet<>();
        for (int i = 0; i + inARow <= other.length(); i++) {
            pieces.add(other.substring(i, i + inARow));
        }
        String own = characters();
        boolean any = false;
        for (int i = 0; i + inARow <= length; i++) {
            if (pieces.contains(own.substring(i, i + inARow))) {
                Arrays.fill(places, starts[i], ends[i + inARow - 1], true);
                any = true;
            }
        }
        return any;
    }

    private void keepLettersAndDigits() {
        int kept = 0;
        for (int i = 0; i < length; i++) {
            char c = characters[i];
            if (c < 0x80 && LOWER[c] != 0) {
                set(kept++, (char) LOWER[c], starts[i], ends[i]);
            }
        }
        length = kept;
    }

    /** Undoes one layer; whether there was one. */
    private boolean unescape() {
        int kept = 0;
        int i = 0;
        boolean any = false;
        while (i < length) {
            int taken = escape(i);
            any |= taken > 1;
            set(
                    kept++,
                    taken > 1 ? unescaped(i, taken) : characters[i],
                    starts[i],
                    ends[i + taken - 1]);
            i += taken;
        }
        length = kept;
        return any;
    }

    private void set(int at, char c, int start, int end) {
        characters[at] = c;
        starts[at] = start;
        ends[at] = end;
    }

    /** The length of the escape that begins here; 1 if there is none. */
    private int escape(int i) {
        return switch (characters[i]) {
            case '%' -> areHex(i + 1, i + 3) ? 3 : 1;
            case '\\' -> i + 1 < length && characters[i + 1] == 'u' && areHex(i + 2, i + 6) ? 6 : 1;
            case '&' -> entity(i);
            default -> 1;
        };
    }

    /** A numeric entity whose number is a letter or a digit; others are punctuation. */
    private int entity(int i) {
        if (i + 2 >= length || characters[i + 1] != '#') {
            return named(i);
        }
        int end = i + 2;
        while (end < length && end - i < LONGEST_ENTITY && characters[end] != ';') {
            end++;
        }
        return end < length && characters[end] == ';' ? end - i + 1 : 1;
    }

    private int named(int i) {
        int end = i + 1;
        while (end < length && end - i < LONGEST_ENTITY && Character.isLetter(characters[end])) {
            end++;
        }
        return end > i + 1 && end < length && characters[end] == ';' ? end - i + 1 : 1;
    }

    private boolean areHex(int from, int to) {
        for (int i = from; i < to; i++) {
            if (i >= length || Character.digit(characters[i], 16) < 0) {
                return false;
            }
        }
        return true;
    }

    private char unescaped(int i, int taken) {
        return switch (characters[i]) {
            case '%' -> number(i + 1, i + taken, 16);
            case '\\' -> number(i + 2, i + taken, 16);
            default -> entityValue(i, i + taken - 1);
        };
    }

    private char entityValue(int i, int end) {
        String name = new String(characters, i + 1, end - i - 1);
        if (name.equals("amp")) {
            return '&';
        }
        if (name.startsWith("#x") || name.startsWith("#X")) {
            return number(i + 3, end, 16);
        }
        return name.startsWith("#") ? number(i + 2, end, 10) : ' ';
    }

    private char number(int from, int to, int radix) {
        int value = 0;
        for (int i = from; i < to; i++) {
            int digit = Character.digit(characters[i], radix);
            if (digit < 0) {
                return ' ';
            }
            value = value * radix + digit;
        }
        return (char) value;
    }
}
