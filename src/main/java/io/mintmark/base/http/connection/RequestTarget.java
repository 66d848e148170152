package io.mintmark.base.http.connection;

import java.util.Optional;

/**
 * What a request asks for (RFC 9112 section 3.2), in the form that an origin server usually gets.
 *
 * @param origin path and query, or {@code *}
 * @param authority host and port of a target in absolute form, which goes before {@code Host}
 */
record RequestTarget(String origin, Optional<String> authority) {
    /**
     * The maximum length of a path as sent, in characters. The server's handling of a path takes
     * time quadratic in its length.
     */
    static final int LONGEST_PATH = 4096;

    /**
     * The maximum number of query parameters. The server's time for a query grows with their number
     * and the query's length.
     */
    static final int MOST_PARAMETERS = 100;

    private static final String ASTERISK = "*";

    /**
     * Reads a target in origin, absolute or asterisk form.
     *
     * @param anyQuery whether the query may have every printable ASCII character but {@code #}
     * @return empty for any other text
     */
    static Optional<RequestTarget> of(String method, String text, boolean anyQuery) {
        if (text.equals(ASTERISK) && method.equals("OPTIONS")) {
            return Optional.of(new RequestTarget(text, Optional.empty()));
        }
        Optional<RequestTarget> target =
                text.startsWith("/")
                        ? Optional.of(new RequestTarget(text, Optional.empty()))
                        : absolute(text);
        return target.filter(it -> isSound(it.origin, anyQuery));
    }

    private static Optional<RequestTarget> absolute(String text) {
        int start = endOfScheme(text);
        if (start < 0) {
            return Optional.empty();
        }
        int end = start;
        while (end < text.length() && text.charAt(end) != '/' && text.charAt(end) != '?') {
            end++;
        }
        String authority = text.substring(start, end);
        String rest = text.substring(end);
        return HostAndPort.isValid(authority)
                ? Optional.of(
                        new RequestTarget(
                                rest.startsWith("/") ? rest : "/" + rest, Optional.of(authority)))
                : Optional.empty();
    }

    private static int endOfScheme(String text) {
        for (String scheme : new String[] {"http://", "https://"}) {
            if (text.regionMatches(true, 0, scheme, 0, scheme.length())) {
                return scheme.length();
            }
        }
        return -1;
    }

    private static boolean isSound(String origin, boolean anyQuery) {
        int mark = origin.indexOf('?');
        String path = mark < 0 ? origin : origin.substring(0, mark);
        String query = mark < 0 ? "" : origin.substring(mark + 1);
        return path.length() <= LONGEST_PATH
                && UriCharacters.isPath(path)
                && (anyQuery ? isPrintable(query) : UriCharacters.isQuery(query))
                && query.chars().filter(c -> c == '&').count() < MOST_PARAMETERS;
    }

    private static boolean isPrintable(String query) {
        return query.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '#');
    }
}
