package io.mintmark.postgres.catalogue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;

import io.mintmark.json.JacksonFactories;
import io.mintmark.postgres.connection.Queries;
import io.mintmark.postgres.connection.QueryFailed;
import io.mintmark.postgres.connection.StreamedRows;
import io.mintmark.verdict.Unavailable;

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
public final class Documents {
    private static final Duration SOON = Duration.ofSeconds(5);
    static final ObjectMapper JSON =
            JacksonFactories.mapper()
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
                    .build();

    private final Queries queries;

    Documents(Queries queries) {
        this.queries = queries;
    }

    /** The column {@code document} of each row of a query. */
    List<JsonNode> read(String sql, Map<String, ?> parameters) {
        return read(sql, parameters, document -> document);
    }

    private <T> List<T> read(String sql, Map<String, ?> parameters, Function<JsonNode, T> map) {
        try {
            return queries.query(
                    sql,
                    parameters,
                    row -> map.apply(parse(row.column("document").get(String.class))));
        } catch (QueryFailed e) {
            throw new Unavailable(
                    Unavailable.Part.DATABASE,
                    "The configuration can't be read now; try again.",
                    SOON,
                    e);
        }
    }

    private static JsonNode parse(String text) {
        try {
            return json(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("PostgreSQL wrote JSON that can't be read", e);
        }
    }

    /** Streams the rows of a query in a transaction of its own. */
    <T> T stream(String sql, List<String> parameters, StreamedRows.Reader<T> reader) {
        try {
            return queries.stream(sql, parameters, reader);
        } catch (QueryFailed e) {
            throw new Unavailable(
                    Unavailable.Part.DATABASE,
                    "The configuration can't be read now; try again.",
                    SOON,
                    e);
        }
    }

    /** Reads JSON with its numbers as they are written. */
    public static JsonNode json(String text) throws JsonProcessingException {
        return JSON.readTree(text);
    }

    /** Maps rows of {@link BoundedRows}. An unreadable or unusable row is left out and logged. */
    static <T> List<T> each(Iterable<JsonNode> rows, String what, Function<JsonNode, T> map) {
        return mapped(rows, ReadRows.optional(what, RowWeight.OF_CONDITIONS, map));
    }

    /** The same while a query's rows are read, so that only what is made of them is kept. */
    <T> List<T> each(String sql, String what, Function<JsonNode, T> map) {
        ReadRows<T> rows = ReadRows.optional(what, RowWeight.OF_CONDITIONS, map);
        var _ = read(sql, Map.of(), row -> add(row, rows));
        return rows.rows();
    }

    /**
     * Maps rows of {@link BoundedRows}, none of which may be skipped.
     *
     * @throws Unavailable if one can't be read
     */
    static <T> List<T> all(Iterable<JsonNode> rows, String what, Function<JsonNode, T> map) {
        return mapped(rows, ReadRows.required(what, RowWeight.OF_CONDITIONS, map));
    }

    private static <T> List<T> mapped(Iterable<JsonNode> rows, ReadRows<T> read) {
        rows.forEach(row -> add(row, read));
        return read.rows();
    }

    private static long add(JsonNode row, ReadRows<?> to) {
        return to.add(row.path("name").asText(), row.path("row").textValue());
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

    static List<String> texts(JsonNode row, String member) {
        List<String> texts = new ArrayList<>();
        row.path(member).forEach(element -> texts.add(element.asText()));
        return texts;
    }
}
