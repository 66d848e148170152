package io.mintmark.base.json;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

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
 * Parses untrusted JSON in linear time. Rejects input that two parsers could read differently:
 * duplicate members, text after the end, invalid UTF-8, unpaired surrogates, numbers that neither a
 * double nor a database can hold. Parse errors quote their input, so they are not passed on.
 */
public final class StrictJson {
    /** The most levels of arrays and objects. */
    public static final int DEEPEST = 32;

    /**
     * The most characters of a number. Making a number of text costs the square of its length,
     * which for these is nothing.
     */
    public static final int LONGEST_NUMBER = 400;

    /**
     * The most tokens of Jackson's: names, values, beginnings and ends. Of a whole megabyte of
     * empty arrays the tree would take thirty; with this bound it takes three at most.
     */
    private static final int MOST_TOKENS = 50_000;

    private static final int MOST_ZEROS = 400;

    /** The number of characters at the start of a document that are examined to detect its kind. */
    private static final int START = 512;

    private static final String BYTE_ORDER_MARK = new String(new char[] {0xEF, 0xBB, 0xBF});

    private static final ObjectMapper MAPPER =
            JsonMapper.builder(
                            JacksonFactories.factory()
                                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                                    .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                                    // interned names of untrusted members would fill a table of the
                                    // JVM's
                                    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                                    .streamReadConstraints(
                                            StreamReadConstraints.builder()
                                                    .maxNestingDepth(DEEPEST)
                                                    .maxNumberLength(LONGEST_NUMBER)
                                                    .maxTokenCount(MOST_TOKENS)
                                                    .build())
                                    .build())
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .build();

    private StrictJson() {}

    /**
     * Parses an object.
     *
     * @param longest the maximum number of bytes; empty for longer input
     */
    public static Optional<ObjectNode> object(byte[] utf8, int longest) {
        return value(utf8, longest)
                .filter(ObjectNode.class::isInstance)
                .map(ObjectNode.class::cast);
    }

    /** A place in a text, counted from 1. */
    public record Place(int line, int column) {}

    /** Returns where the input is not JSON; empty if it is JSON, or rejected for another reason. */
    public static Optional<Place> fault(byte[] utf8) {
        try {
            MAPPER.readTree(new String(utf8, StandardCharsets.UTF_8));
            return Optional.empty();
        } catch (JsonProcessingException e) {
            return Optional.ofNullable(e.getLocation())
                    .map(at -> new Place(at.getLineNr(), at.getColumnNr()));
        } catch (NumberFormatException e) {
            return Optional.empty(); // an exponent beyond Java's, which has no place
        }
    }

    /**
     * The fault of a document that isn't an object, in words for its publisher: a predicate without
     * its subject, which quotes nothing.
     */
    public static String objection(byte[] document) {
        String start =
                new String(document, 0, Math.min(document.length, START), ISO_8859_1).strip();
        if (start.isEmpty()) {
            return "is empty";
        }
        if (start.startsWith(BYTE_ORDER_MARK)) {
            return "begins with a byte order mark, which JSON must not have (RFC 8259 section 8.1)";
        }
        if (start.startsWith("<")) {
            return "is HTML or XML instead of JSON";
        }
        return fault(document)
                .map(at ->
                        "is not valid JSON at line %d, column %d".formatted(at.line(), at.column()))
                .orElseGet(() ->
                        start.startsWith("{")
                                ? "has a string or a number that JSON parsers read differently"
                                : "is JSON, but not an object");
    }

    /** The JSON value of any type in these bytes; empty if they aren't exactly one. */
    public static Optional<JsonNode> value(byte[] utf8, int longest) {
        if (utf8.length > longest) {
            return Optional.empty();
        }
        try {
            String text =
                    StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
            return Optional.of(MAPPER.readTree(text))
                    .filter(value -> !value.isMissingNode() && isPortable(value));
        } catch (CharacterCodingException | JsonProcessingException | NumberFormatException e) {
            // the last is what an exponent beyond Java's gives
            return Optional.empty();
        }
    }

    private static boolean isPortable(JsonNode node) {
        if (node.isTextual()) {
            return isUnicode(node.textValue());
        }
        if (node.isBigDecimal()) {
            return Math.abs((long) node.decimalValue().scale()) <= MOST_ZEROS;
        }
        for (var member : node.properties()) {
            if (!isUnicode(member.getKey())) {
                return false;
            }
        }
        for (JsonNode element : node) {
            if (!isPortable(element)) {
                return false;
            }
        }
        return true;
    }

    /** Whether the text has no unpaired surrogates. */
    private static boolean isUnicode(String text) {
        int i = 0;
        while (i < text.length()) {
            int c = text.codePointAt(i);
            if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
                return false;
            }
            i += Character.charCount(c);
        }
        return true;
    }
}
