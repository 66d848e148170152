package io.mintmark.base.outbound;

import java.util.regex.Pattern;

/**
 * A provider's message, made fit for the audit log: a provider may quote the token that it was
 * shown, and may say anything at any length.
 */
public final class ProviderWords {
    private static final int LONGEST = 500;

    /**
     * The number of characters that are examined, more than are shown, so that removed parts don't
     * shorten the shown text.
     */
    private static final int LOOKED_AT = 4_000;

    /**
     * A JWT begins with the base64url form of a brace and a quotation mark, and Google's opaque
     * tokens begin with {@code ya29.}
     */
    private static final Pattern TOKEN =
            Pattern.compile("eyJ[A-Za-z0-9_-]{6,}[A-Za-z0-9_.-]*|ya29\\.[A-Za-z0-9_.~+/=-]+");

    /** Words of this length or more are of no use to a reader. */
    private static final Pattern LONG_WORD = Pattern.compile("[A-Za-z0-9_-]{40,}+");

    /**
     * Matches characters that a reader of the log can't see, including those that change the text's
     * direction.
     */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{C}\\p{Z}\\s]+");

    private ProviderWords() {}

    /** The words without tokens and control characters, on one line, cut to 500 characters. */
    public static String fit(String said) {
        String line = UNPRINTABLE.matcher(cut(said)).replaceAll(" ").strip();
        String words = withoutTokens(line);
        return words.length() <= LONGEST ? words : words.substring(0, LONGEST) + "…";
    }

    /** The text with {@code [token]} where there is one, or a long word that looks like one. */
    public static String withoutTokens(String text) {
        return LONG_WORD
                .matcher(TOKEN.matcher(text).replaceAll("[token]"))
                .replaceAll(word -> isRandom(word.group()) ? "[token]" : word.group());
    }

    /** Whether a word has a digit, a lower-case and an upper-case letter, like random secrets. */
    private static boolean isRandom(String word) {
        return word.chars().anyMatch(c -> c >= '0' && c <= '9')
                && word.chars().anyMatch(c -> c >= 'a' && c <= 'z')
                && word.chars().anyMatch(c -> c >= 'A' && c <= 'Z');
    }

    /** The beginning of the text, as much as is ever looked at. */
    static String cut(String said) {
        return said.length() <= LOOKED_AT ? said : said.substring(0, LOOKED_AT);
    }
}
