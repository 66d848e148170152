package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;

import io.helidon.http.Header;

/**
 * The body of an answer.
 *
 * @param type the header {@code Content-Type}
 */
@SuppressWarnings("ArrayRecordComponent")
record Content(Header type, byte[] bytes) {

    static Content json(JsonNode value) {
        return new Content(Answers.JSON, Json.write(value));
    }
}
