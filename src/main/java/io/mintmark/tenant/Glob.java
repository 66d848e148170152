package io.mintmark.tenant;

/**
 * A pattern over names that are made of segments: {@code *} stands for any text without {@code :}
 * and {@code /}, {@code **} for any text. All else is literal, there is nothing to escape with.
 *
 * <p>Matching takes at most pattern times text steps, whatever the pattern: it walks through the
 * text once, and through all places in the pattern that it could be at side by side. Nothing is
 * tried and taken back, which is what an admin's pattern could make explode.
 *
 * @param pattern the pattern as it was written; may be empty, and then matches the empty text only
 */
public record Glob(String pattern) {

    /** Whether the whole of {@code text} fits the pattern. */
    public boolean matches(String text) {
        String prefix = literalPrefix();
        if (!text.startsWith(prefix)) {
            return false;
        }
        boolean[] reached = new boolean[pattern.length() + 1];
        reached[prefix.length()] = true;
        passStars(reached);
        for (int t = prefix.length(); t < text.length(); t++) {
            reached = after(text.charAt(t), reached);
        }
        return reached[pattern.length()];
    }

    /** What every text that matches begins with. */
    public String literalPrefix() {
        int star = pattern.indexOf('*');
        return star < 0 ? pattern : pattern.substring(0, star);
    }

    /** The places in the pattern that one more character of the text leads to. */
    private boolean[] after(char c, boolean[] reached) {
        boolean[] next = new boolean[reached.length];
        for (int p = 0; p < pattern.length(); p++) {
            if (reached[p] && isStar(p)) {
                next[p] |= isDeep(p) || !separates(c);
            } else if (reached[p] && pattern.charAt(p) == c) {
                next[p + 1] = true;
            }
        }
        passStars(next);
        return next;
    }

    /** A star may stand for nothing, so whoever is before it is behind it too. */
    private void passStars(boolean[] reached) {
        for (int p = 0; p < pattern.length(); p++) {
            if (reached[p] && isStar(p)) {
                reached[isDeep(p) ? p + 2 : p + 1] = true;
            }
        }
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
