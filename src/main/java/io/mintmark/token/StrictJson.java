package io.mintmark.token;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Reads JSON objects that strangers wrote. What two parsers could read differently is refused:
 * members twice, text behind the end, bytes that aren't UTF-8, halves of surrogate pairs, numbers
 * that no double and no database can hold. Parse errors quote their input and end here.
 */
final class StrictJson {
    private static final int MAX_DEPTH = 32;
    private static final int MAX_SCALE = 400;

    private static final ObjectMapper MAPPER =
            JsonMapper.builder(
                            JsonFactory.builder()
                                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                                    .streamReadConstraints(
                                            StreamReadConstraints.builder()
                                                    .maxNestingDepth(MAX_DEPTH)
                                                    .build())
                                    .build())
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .build();

    private StrictJson() {}

    /** The object that these bytes are, if they are one. */
    static Optional<ObjectNode> object(byte[] utf8) {
        try {
            String text =
                    StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
            return MAPPER.readTree(text) instanceof ObjectNode object && isPortable(object)
                    ? Optional.of(object)
                    : Optional.empty();
        } catch (CharacterCodingException | JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private static boolean isPortable(JsonNode node) {
        if (node.isTextual()) {
            return isUnicode(node.textValue());
        }
        if (node.isBigDecimal()) {
            return Math.abs((long) node.decimalValue().scale()) <= MAX_SCALE;
        }
        return node.properties().stream().allMatch(member -> isUnicode(member.getKey()))
                && node.valueStream().allMatch(StrictJson::isPortable);
    }

    private static boolean isUnicode(String text) {
        return text.codePoints()
                .noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    }
}
