package io.mintmark.base.logging;

import java.util.regex.Pattern;

/**
 * The last guard before a log line is written: removes anything that looks like a JWT, or like a
 * query parameter with one. Our own code doesn't log tokens, but messages of libraries' exceptions
 * sometimes quote their input.
 */
final class Redaction {
    static final String MARK = "(redacted)";

    /** A JWT begins with the Base64 of <code>{"</code>; what follows may be cut off. */
    private static final Pattern JWT = Pattern.compile("eyJ[\\w.-]{8,}");

    private static final Pattern PARAMETER =
            Pattern.compile(
                    "(?i)(?<=[?&](token|oidctoken|webidentitytoken|subject_token|actor_token|assertion)=)[^&\\s]+");

    /** Matches a bearer token that is too long to be a word. */
    private static final Pattern BEARER =
            Pattern.compile("(?i)(?<=\\bbearer )\\s*[\\w.~+/=-]{16,}");

    /** A cheap test that every match of the others passes; most lines don't. */
    private static final Pattern SUSPICIOUS = Pattern.compile("(?i)eyJ|token=|assertion=|bearer ");

    /** No pattern matches a shorter text. */
    private static final int SHORTEST = "?token=x".length();

    private Redaction() {}

    static String of(String text) {
        if (text.length() < SHORTEST || !SUSPICIOUS.matcher(text).find()) {
            return text;
        }
        String withoutJwts = JWT.matcher(text).replaceAll(MARK);
        String withoutParameters = PARAMETER.matcher(withoutJwts).replaceAll(MARK);
        return BEARER.matcher(withoutParameters).replaceAll(MARK);
    }
}
