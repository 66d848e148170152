package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;

import io.mintmark.base.json.JacksonFactories;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The members of a row that PostgreSQL wrote as a JSON document. The verifier reads recorded rows
 * with the same code, without a connection.
 */
public final class DocumentFields {
    static final ObjectMapper JSON =
            JacksonFactories.mapper()
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
                    .build();

    private DocumentFields() {}

    /** Reads what PostgreSQL wrote. */
    public static JsonNode parse(String text) {
        try {
            return json(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a row from PostgreSQL is not valid JSON", e);
        }
    }

    /** Reads JSON with its numbers as they are written. */
    public static JsonNode json(String text) throws JsonProcessingException {
        return JSON.readTree(text);
    }

    public static Optional<String> text(JsonNode row, String member) {
        return Optional.ofNullable(row.path(member).textValue());
    }

    public static Optional<Instant> time(JsonNode row, String member) {
        return text(row, member).map(text -> OffsetDateTime.parse(text).toInstant());
    }

    public static Optional<Duration> seconds(JsonNode row, String member) {
        JsonNode value = row.path(member);
        return value.isNumber()
                ? Optional.of(Duration.ofSeconds(value.longValue()))
                : Optional.empty();
    }

    public static List<String> texts(JsonNode row, String member) {
        List<String> texts = new ArrayList<>();
        row.path(member).forEach(element -> texts.add(element.asText()));
        return texts;
    }
}
