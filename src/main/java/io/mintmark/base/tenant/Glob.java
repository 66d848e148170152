package io.mintmark.base.tenant;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A pattern for names with segments: {@code *} matches any text without {@code :} and {@code /},
 * {@code **} any text. Everything else is literal; there is no escape.
 *
 * <p>Matching is linear in the text: one pass for each star, of which there are at most {@value
 * #MAX_STARS}, searching for the literal after the star by the algorithm of Knuth, Morris and
 * Pratt. Without backtracking, no pattern of an admin can take exponential time.
 */
public final class Glob {
    /** The maximum length in characters (code points), as the database counts them. */
    public static final int MAX_LENGTH = 512;

    /** The maximum number of wildcards; {@code **} counts as one. */
    public static final int MAX_STARS = 8;

    /** Schemes whose identifiers always have a host. */
    private static final Set<String> WITH_HOST = Set.of("spiffe", "http", "https");

    private final String pattern;
    private final String prefix;
    private final List<Part> parts;

    /** A star and the literal behind it; only the last part's literal may be empty. */
    private record Part(boolean deep, Literal literal) {}

    /**
     * A pattern.
     *
     * @param pattern as it was written; may be empty, and then matches the empty text only
     * @throws IllegalArgumentException if it is longer, or has more stars, than is allowed
     */
    public Glob(String pattern) {
        int length = pattern.codePointCount(0, pattern.length());
        if (length > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "a glob has %d characters; the maximum is %d".formatted(length, MAX_LENGTH));
        }
        this.pattern = pattern;
        int star = pattern.indexOf('*');
        this.prefix = star < 0 ? pattern : pattern.substring(0, star);
        this.parts = parts(pattern.substring(prefix.length()));
    }

    private static List<Part> parts(String rest) {
        List<Part> parts = new ArrayList<>();
        int stars = 0;
        for (int at = 0; at < rest.length(); ) {
            int literal = at;
            while (literal < rest.length() && rest.charAt(literal) == '*') {
                literal++;
            }
            int next = rest.indexOf('*', literal);
            int end = next < 0 ? rest.length() : next;
            stars += (literal - at + 1) / 2;
            if (stars > MAX_STARS) {
                throw new IllegalArgumentException(
                        "a glob has more than %d stars, the maximum".formatted(MAX_STARS));
            }
            parts.add(new Part(literal - at > 1, new Literal(rest.substring(literal, end))));
            at = end;
        }
        return List.copyOf(parts);
    }

    /** The pattern as it was written. */
    public String pattern() {
        return pattern;
    }

    /**
     * Whether the pattern starts with a literal segment: up to the first {@code :} or {@code /}, or
     * in a URI up to the end of its host. Globs of subjects must be anchored; {@code
     * internal.is_anchored} has the same rule.
     */
    public boolean isAnchored() {
        int colon = pattern.indexOf(':');
        String scheme = colon < 0 ? "" : pattern.substring(0, colon);
        String behind = pattern.substring(colon + 1);
        return (isScheme(scheme) && isUri(scheme, behind))
                ? behind.startsWith("//") && hasLiteral(behind.substring(2), "/")
                : hasLiteral(pattern, ":/");
    }

    private static boolean isScheme(String text) {
        return !text.isEmpty()
                && isLetter(text.charAt(0))
                && text.chars().allMatch(c -> isLetter(c) || "0123456789+.-".indexOf(c) >= 0);
    }

    private static boolean isLetter(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }

    private static boolean isUri(String scheme, String behind) {
        return behind.startsWith("//")
                || behind.startsWith("/*")
                || (behind.startsWith("*") && WITH_HOST.contains(scheme.toLowerCase(Locale.ROOT)));
    }

    /** Whether a text has something before its first end, or the end of the text, and no star. */
    private static boolean hasLiteral(String text, String ends) {
        int at = 0;
        while (at < text.length() && text.charAt(at) != '*' && ends.indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return at > 0 && (at == text.length() || text.charAt(at) != '*');
    }

    /** The common beginning of all strings that match. */
    public String literalPrefix() {
        return prefix;
    }

    /** At most how many characters {@link #matches} looks at. */
    public long steps(String text) {
        return pattern.length() + (fitsAtItsEnds(text) ? (long) parts.size() * text.length() : 0);
    }

    /** Whether the whole of {@code text} fits the pattern. */
    public boolean matches(String text) {
        if (parts.isEmpty() || !fitsAtItsEnds(text)) {
            return text.equals(pattern);
        }
        BitSet reached = new BitSet(text.length() + 1);
        reached.set(prefix.length());
        for (int i = 0; i < parts.size() - 1; i++) {
            reached = behind(parts.get(i), text, reached, parts.get(i + 1).deep());
        }
        Part last = parts.getLast();
        int tail = text.length() - last.literal().length();
        int nearest = reached.previousSetBit(tail);
        return nearest >= 0 && (last.deep() || isOneSegment(text, nearest, tail));
    }

    /** Whether a text has the prefix and suffix that every match has. */
    private boolean fitsAtItsEnds(String text) {
        String suffix = parts.isEmpty() ? "" : parts.getLast().literal().text();
        return text.length() >= prefix.length() + suffix.length()
                && text.startsWith(prefix)
                && text.endsWith(suffix);
    }

    /**
     * The positions after a part, given the positions before it; only the first one if that is
     * enough.
     */
    private static BitSet behind(Part part, String text, BitSet reached, boolean first) {
        BitSet behind = new BitSet(text.length() + 1);
        Literal literal = part.literal();
        int looked = reached.isEmpty() ? text.length() : reached.nextSetBit(0);
        int nearest = -1;
        int matched = 0;
        for (int at = looked; at < text.length(); at++) {
            matched = literal.next(matched, text.charAt(at));
            if (matched == literal.length()) {
                for (int start = at + 1 - matched; looked <= start; looked++) {
                    nearest = nearest(part, text, reached, looked, nearest);
                }
                if (nearest >= 0) {
                    behind.set(at + 1);
                    if (first) {
                        break;
                    }
                }
            }
        }
        return behind;
    }

    /** The last place before {@code at}, or at it, from which the part's star leads there. */
    private static int nearest(Part part, String text, BitSet reached, int at, int before) {
        if (reached.get(at)) {
            return at;
        }
        return !part.deep() && at > 0 && separates(text.charAt(at - 1)) ? -1 : before;
    }

    private static boolean isOneSegment(String text, int from, int to) {
        return text.substring(from, to).chars().noneMatch(c -> separates((char) c));
    }

    private static boolean separates(char c) {
        return c == ':' || c == '/';
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Glob that && pattern.equals(that.pattern);
    }

    @Override
    public int hashCode() {
        return pattern.hashCode();
    }

    @Override
    public String toString() {
        return pattern;
    }

    /** A text to be found, with its failure function. */
    private static final class Literal {
        private final String text;

        /**
         * The failure function: for each number of matched characters, how many still match one
         * position later.
         */
        private final short[] borders;

        Literal(String text) {
            this.text = text;
            this.borders = new short[text.length() + 1];
            borders[0] = -1;
            for (int fitted = 1; fitted <= text.length(); fitted++) {
                int border = fitted == 1 ? 0 : next(borders[fitted - 1], text.charAt(fitted - 1));
                borders[fitted] = (short) border;
            }
        }

        String text() {
            return text;
        }

        int length() {
            return text.length();
        }

        /**
         * The number of the text's first characters that match after one more character, of which
         * {@code fitted} matched before.
         */
        int next(int fitted, char c) {
            int at = fitted == text.length() ? borders[fitted] : fitted;
            while (at >= 0 && text.charAt(at) != c) {
                at = borders[at];
            }
            return at + 1;
        }
    }
}
