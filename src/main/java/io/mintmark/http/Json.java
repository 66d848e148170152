package io.mintmark.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.IOException;
import java.util.Optional;

/** Bodies in and out. Reading is strict: one value, no member twice, nothing after it. */
final class Json {
    private static final int DEEPEST = 32;

    private static final ObjectMapper MAPPER =
            JsonMapper.builder(
                            JsonFactory.builder()
                                    .streamReadConstraints(
                                            StreamReadConstraints.builder()
                                                    .maxNestingDepth(DEEPEST)
                                                    .build())
                                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                                    .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                                    .build())
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .build();

    private Json() {}

    /** A new object. */
    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    /** A text, as JSON quotes it. */
    static JsonNode text(String text) {
        return MAPPER.getNodeFactory().textNode(text);
    }

    /** The value, if the bytes are one and nothing else. */
    static Optional<JsonNode> read(byte[] body) {
        try {
            JsonNode value = MAPPER.readTree(body);
            return value.isMissingNode() ? Optional.empty() : Optional.of(value);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    static byte[] write(JsonNode value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a JSON tree that can't be written", e);
        }
    }
}
