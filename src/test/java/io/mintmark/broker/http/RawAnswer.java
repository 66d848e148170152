package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * An answer as it came over the wire.
 *
 * @param headers by lower-case name
 */
record RawAnswer(int status, Map<String, List<String>> headers, String body) {

    /** The only value of a header, or an empty text. */
    String header(String name) {
        List<String> values = headers.getOrDefault(name, List.of());
        if (values.size() > 1) {
            throw new AssertionError(name + " stands there " + values.size() + " times");
        }
        return values.isEmpty() ? "" : values.getFirst();
    }

    JsonNode json() throws IOException {
        return new ObjectMapper().readTree(body);
    }
}
