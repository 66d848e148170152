package io.mintmark.base.http.connection;

import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;

import java.util.List;
import java.util.stream.Stream;

/** The header {@code Connection}: options, separated by commas, whose case doesn't matter. */
final class ConnectionHeader {
    private static final String CLOSE = "close";

    private ConnectionHeader() {}

    /** Whether the connection ends with this message (RFC 9112 section 9.6). */
    static boolean saysClose(Headers headers) {
        return headers.contains(HeaderNames.CONNECTION)
                && headers.all(HeaderNames.CONNECTION, List::of).stream()
                        .flatMap(value -> Stream.of(value.split(",")))
                        .anyMatch(option -> option.strip().equalsIgnoreCase(CLOSE));
    }
}
