package io.mintmark.postgres;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.mintmark.verdict.Unavailable;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads configuration as JSON documents: one statement is one consistent state, however many tables
 * it looks at.
 */
final class Documents {
    private static final Logger log = LoggerFactory.getLogger(Documents.class);
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

    /** How many ignored rows are logged one by one. */
    private static final int TOLD = 10;

    private final Queries queries;

    Documents(Queries queries) {
        this.queries = queries;
    }

    /** The column {@code document} of each row of a query. */
    List<JsonNode> read(String sql, Map<String, ?> parameters) {
        try {
            return queries.query(
                    sql, parameters, row -> parse(row.column("document").get(String.class)));
        } catch (QueryFailed e) {
            throw new Unavailable("The configuration can't be read now; try again.", SOON, e);
        }
    }

    private static JsonNode parse(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("PostgreSQL wrote JSON that can't be read", e);
        }
    }

    /**
     * Maps rows of {@link BoundedRows}; one that can't be read, or can't work, is as good as
     * absent, and is told to the operators.
     */
    static <T> List<T> each(Iterable<JsonNode> rows, String what, Function<JsonNode, T> map) {
        List<T> mapped = new ArrayList<>();
        int ignored = 0;
        for (JsonNode row : rows) {
            try {
                mapped.add(map.apply(document(row)));
            } catch (JsonProcessingException | RuntimeException e) {
                ignored++;
                if (ignored <= TOLD) {
                    log.error(
                            "The {} '{}' is ignored: {}", what, row.path("name").asText(), why(e));
                }
            }
        }
        if (ignored > TOLD) {
            log.error("And {} more of the same kind are ignored", ignored - TOLD);
        }
        return mapped;
    }

    /**
     * Maps rows of {@link BoundedRows}, of which none may be left out.
     *
     * @throws Unavailable if one can't be read, which is told to the operators
     */
    static <T> List<T> all(Iterable<JsonNode> rows, String what, Function<JsonNode, T> map) {
        List<T> mapped = new ArrayList<>();
        for (JsonNode row : rows) {
            try {
                mapped.add(map.apply(document(row)));
            } catch (JsonProcessingException | RuntimeException e) {
                log.error(
                        "The {} '{}' can't be read, so nothing is decided: {}",
                        what,
                        row.path("name").asText(),
                        why(e));
                throw new Unavailable(
                        "A %s can't be read, and nothing is decided without it.".formatted(what),
                        SOON,
                        e);
            }
        }
        return mapped;
    }

    /** How much text rows of {@link BoundedRows} are. */
    static int size(JsonNode rows) {
        return rows.valueStream().mapToInt(row -> row.path("row").asText().length()).sum();
    }

    private static JsonNode document(JsonNode row) throws JsonProcessingException {
        String text = row.path("row").textValue();
        if (text == null) {
            throw new IllegalArgumentException(
                    "it is larger than what is read of a row, or those before it are as much as is"
                            + " read of a tenant");
        }
        return JSON.readTree(text);
    }

    /** Without the place, which would show what stands there. */
    private static @Nullable String why(Exception failure) {
        return failure instanceof JsonProcessingException unreadable
                ? unreadable.getOriginalMessage()
                : failure.getMessage();
    }

    static Optional<String> text(JsonNode row, String member) {
        return Optional.ofNullable(row.path(member).textValue());
    }

    static Optional<Instant> time(JsonNode row, String member) {
        return text(row, member).map(text -> OffsetDateTime.parse(text).toInstant());
    }

    static Optional<Duration> seconds(JsonNode row, String member) {
        JsonNode value = row.path(member);
        return value.isNumber()
                ? Optional.of(Duration.ofSeconds(value.longValue()))
                : Optional.empty();
    }

    static List<String> texts(JsonNode row, String member) {
        List<String> texts = new ArrayList<>();
        row.path(member).forEach(element -> texts.add(element.asText()));
        return texts;
    }
}
