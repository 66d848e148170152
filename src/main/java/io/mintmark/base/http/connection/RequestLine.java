package io.mintmark.base.http.connection;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The first line of a request (RFC 9112 section 3). Methods are capital letters, and hyphens
 * between them: methods differ by case, which the server forgets, and a proxy that forwards {@code
 * head} doesn't know that no body will follow.
 */
record RequestLine(String method, RequestTarget target) {
    /** The maximum length of a request's method, in characters. */
    static final int LONGEST_METHOD = 32;

    private static final String VERSION = " HTTP/1.1";

    /**
     * Reads a line without its end.
     *
     * @param anyQuery see {@link RequestTarget#of}
     * @return empty if it is no request line of HTTP/1.1, or exceeds a bound
     */
    static Optional<RequestLine> of(byte[] bytes, boolean anyQuery) {
        String line = new String(bytes, StandardCharsets.ISO_8859_1);
        int methodEnd = line.indexOf(' ');
        int targetEnd = line.length() - VERSION.length();
        if (!isMethod(line, methodEnd) || methodEnd >= targetEnd || !line.endsWith(VERSION)) {
            return Optional.empty();
        }
        String method = line.substring(0, methodEnd);
        return RequestTarget.of(method, line.substring(methodEnd + 1, targetEnd), anyQuery)
                .map(target -> new RequestLine(method, target));
    }

    /** Whether this is the request line of HTTP/1.0, whose responses can't have all headers. */
    static boolean isHttp10(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1).endsWith(" HTTP/1.0");
    }

    private static boolean isMethod(String line, int end) {
        if (end < 1 || end > LONGEST_METHOD) {
            return false;
        }
        boolean afterLetter = false;
        for (int i = 0; i < end; i++) {
            char character = line.charAt(i);
            boolean isLetter = character >= 'A' && character <= 'Z';
            if (!isLetter && !(character == '-' && afterLetter)) {
                return false;
            }
            afterLetter = isLetter;
        }
        return afterLetter;
    }

    /** The line with its target in origin form, which is the form that the server understands. */
    byte[] inOriginForm() {
        return (method + " " + target.origin() + VERSION).getBytes(StandardCharsets.ISO_8859_1);
    }
}
