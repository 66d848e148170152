package io.mintmark.console.pages.frame;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.mintmark.base.json.JacksonFactories;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/** Reads and formats {@code jsonb} values of PostgreSQL. */
public final class RowJson {
    private static final JsonMapper MAPPER =
            JacksonFactories.mapper()
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .build();

    private RowJson() {}

    /** A value as the database writes it. */
    public static JsonNode read(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the database's JSON can't be read", e);
        }
    }

    /** A text that is a JSON object; none if it is anything else. */
    public static Optional<JsonNode> object(String text) {
        try {
            return Optional.of(MAPPER.readTree(text)).filter(JsonNode::isObject);
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    /** Formats a value over several lines, for people. */
    public static String indented(JsonNode value) {
        return value.toPrettyString();
    }

    /** A time as rows of the history hold it. */
    public static Instant time(String text) {
        return OffsetDateTime.parse(text, DateTimeFormatter.ISO_OFFSET_DATE_TIME).toInstant();
    }
}
