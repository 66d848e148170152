package io.mintmark.broker.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.json.JacksonFactories;
import io.mintmark.base.json.StrictJson;

import java.util.Optional;

/** Bodies in and out. Reading is strict: one value, no member twice, nothing after it. */
final class Json {
    private static final ObjectMapper MAPPER = JacksonFactories.mapper().build();

    private Json() {}

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    /** The value, if the bytes are one and nothing else. */
    static Optional<JsonNode> read(byte[] body) {
        return StrictJson.value(body, Bodies.LONGEST);
    }

    static byte[] write(JsonNode value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a JSON document can't be written", e);
        }
    }
}
