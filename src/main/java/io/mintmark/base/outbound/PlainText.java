package io.mintmark.base.outbound;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ASCII letters and digits of a text in lower case, its escapes undone, each with the place in
 * the text that it comes from.
 */
final class PlainText {
    private static final int MOST_PASSES = 4;

    /** The lower case of each ASCII letter and digit, and 0 for other characters. */
    private static final byte[] COMPARED = compared();

    /** Matches an escape of URLs, JSON or HTML. Named HTML escapes stand for punctuation. */
    private static final Pattern ESCAPE =
            Pattern.compile(
                    "%(\\p{XDigit}{2})|\\\\u(\\p{XDigit}{4})|&#[xX](\\p{XDigit}{1,7});"
                            + "|&#(\\d{1,8});|&(\\p{Alpha}{1,9});");

    private final char[] characters;
    private final int[] starts;
    private final int[] ends;
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
        if (mayHaveEscapes(text)) {
            return of(text).characters();
        }
        return comparedOf(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the letters and digits among ASCII bytes in lower case, and skips other bytes. */
    static String comparedOf(byte[] text) {
        byte[] compared = new byte[text.length];
        int length = 0;
        for (byte b : text) {
            if (b >= 0 && COMPARED[b] != 0) {
                compared[length++] = COMPARED[b];
            }
        }
        return new String(compared, 0, length, StandardCharsets.US_ASCII);
    }

    private static byte[] compared() {
        byte[] compared = new byte[0x80];
        for (char c = 0; c < compared.length; c++) {
            if (Character.isLetterOrDigit(c)) {
                compared[c] = (byte) Character.toLowerCase(c);
            }
        }
        return compared;
    }

    private static boolean mayHaveEscapes(String text) {
        return text.indexOf('%') >= 0 || text.indexOf('\\') >= 0 || text.indexOf('&') >= 0;
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
            if (c < COMPARED.length && COMPARED[c] != 0) {
                set(kept++, (char) COMPARED[c], starts[i], ends[i]);
            }
        }
        length = kept;
    }

    /** Undoes one layer; whether there was one. */
    private boolean unescape() {
        String text = characters();
        if (!mayHaveEscapes(text)) {
            return false; // as most texts, faster than the expression finds out
        }
        Matcher escape = ESCAPE.matcher(text);
        int kept = 0;
        int i = 0;
        boolean any = false;
        while (i < length) {
            boolean found = escape.find(i);
            int next = found ? escape.start() : length;
            while (i < next) {
                set(kept++, characters[i], starts[i], ends[i]);
                i++;
            }
            if (found) {
                set(kept++, unescaped(escape), starts[i], ends[escape.end() - 1]);
                i = escape.end();
                any = true;
            }
        }
        length = kept;
        return any;
    }

    private static char unescaped(MatchResult escape) {
        for (int group = 1; group <= 3; group++) {
            String hexadecimal = escape.group(group);
            if (hexadecimal != null) {
                return (char) Integer.parseInt(hexadecimal, 16);
            }
        }
        String decimal = escape.group(4);
        if (decimal != null) {
            return (char) Integer.parseInt(decimal);
        }
        return "amp".equals(escape.group(5)) ? '&' : ' ';
    }

    private void set(int at, char c, int start, int end) {
        characters[at] = c;
        starts[at] = start;
        ends[at] = end;
    }
}
