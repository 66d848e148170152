package io.mintmark.tenant;

/**
 * A pattern over names that are made of segments: {@code *} stands for any text without {@code :}
 * and {@code /}, {@code **} for any text. All else is literal, there is nothing to escape with.
 *
 * <p>Matching takes at most pattern times text steps and no memory; it never falls back into
 * regular expressions, whose time an admin's pattern could make explode.
 *
 * @param pattern the pattern as it was written; may be empty, and then matches the empty text only
 */
public record Glob(String pattern) {

    /** Whether the whole of {@code text} fits the pattern. */
    public boolean matches(String text) {
        int p = 0;
        int t = 0;
        int starPattern = -1;
        int starText = -1;
        int deepPattern = -1;
        int deepText = -1;
        while (true) {
            if (isDeep(p)) {
                p += 2;
                deepPattern = p;
                deepText = t;
                starPattern = -1;
            } else if (isStar(p)) {
                p += 1;
                starPattern = p;
                starText = t;
            } else if (t < text.length()
                    && p < pattern.length()
                    && pattern.charAt(p) == text.charAt(t)) {
                p++;
                t++;
            } else if (t == text.length() && p == pattern.length()) {
                return true;
            } else if (starPattern >= 0
                    && starText < text.length()
                    && !separates(text.charAt(starText))) {
                starText++;
                p = starPattern;
                t = starText;
            } else if (deepPattern >= 0 && deepText < text.length()) {
                deepText++;
                p = deepPattern;
                t = deepText;
                starPattern = -1;
            } else {
                return false;
            }
        }
    }

    /** What every text that matches begins with. */
    public String literalPrefix() {
        int star = pattern.indexOf('*');
        return star < 0 ? pattern : pattern.substring(0, star);
    }

    private boolean isStar(int at) {
        return at < pattern.length() && pattern.charAt(at) == '*';
    }

    private boolean isDeep(int at) {
        return isStar(at) && isStar(at + 1);
    }

    private static boolean separates(char c) {
        return c == ':' || c == '/';
    }

    @Override
    public String toString() {
        return pattern;
    }
}
