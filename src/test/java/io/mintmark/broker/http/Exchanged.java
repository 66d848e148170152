package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A request and its answer.
 *
 * @param request method and path, for people
 */
record Exchanged(InterfaceDocument.Place place, String request, RawAnswer answer) {

    /** What of the document it is an instance of. */
    String documented() {
        return place.name() + " " + answer.status();
    }

    /** Which kind of error it is; empty if it is none. */
    String kind() {
        return answer.body().startsWith("{\"error\"") ? kind(json()) : "";
    }

    /** The code, and the stable reason or else the names of the details. */
    static String kind(JsonNode error) {
        JsonNode details = error.path("details");
        String reason = details.path("reason").asText();
        return error.path("error").asText()
                + " "
                + (reason.matches("[a-z_]+")
                        ? reason
                        : details.propertyStream()
                                .map(Map.Entry::getKey)
                                .collect(Collectors.joining(",")));
    }

    private JsonNode json() {
        try {
            return answer.json();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
