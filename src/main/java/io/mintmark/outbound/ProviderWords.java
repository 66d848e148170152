package io.mintmark.outbound;

import java.util.regex.Pattern;

/**
 * What a provider said, made fit for the audit log: a provider may quote the token that it was
 * shown, and may say anything at any length.
 */
public final class ProviderWords {
    private static final int LONGEST = 500;

    /**
     * A JWT begins with the base64url form of a brace and a quotation mark, and Google's opaque
     * tokens begin with {@code ya29.}
     */
    private static final Pattern TOKEN =
            Pattern.compile("eyJ[A-Za-z0-9_-]{6,}[A-Za-z0-9_.-]*|ya29\\.[A-Za-z0-9_.~+/=-]+");

    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cntrl}\\p{Cn}\\p{Cs}\\s]+");

    private ProviderWords() {}

    /** The words without tokens and control characters, on one line, cut to 500 characters. */
    public static String fit(String said) {
        String line = UNPRINTABLE.matcher(said).replaceAll(" ").strip();
        String words = withoutTokens(line);
        return words.length() <= LONGEST ? words : words.substring(0, LONGEST) + "…";
    }

    /** The text with {@code [token]} where there is one. */
    public static String withoutTokens(String text) {
        return TOKEN.matcher(text).replaceAll("[token]");
    }
}
