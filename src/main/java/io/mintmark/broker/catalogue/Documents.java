package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.verdict.Unavailable;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads configuration as JSON documents: one statement is one consistent state, however many tables
 * it looks at.
 */
public final class Documents {
    private static final Duration SOON = Duration.ofSeconds(5);

    private final Queries queries;

    public Documents(Queries queries) {
        this.queries = queries;
    }

    /** The column {@code document} of each row of a query. */
    public List<JsonNode> read(String sql, Map<String, ?> parameters) {
        return read(sql, parameters, document -> document);
    }

    private <T> List<T> read(String sql, Map<String, ?> parameters, Function<JsonNode, T> map) {
        try {
            return queries.query(
                    sql,
                    parameters,
                    row ->
                            map.apply(
                                    DocumentFields.parse(
                                            row.column("document").get(String.class))));
        } catch (QueryFailed e) {
            throw unreadable(e);
        }
    }

    static Unavailable unreadable(QueryFailed cause) {
        return new Unavailable(
                Unavailable.Part.DATABASE,
                cause.isLocked()
                        ? "Another database session holds a lock on the configuration, so the broker can't read it; try again."
                        : "The configuration can't be read now; try again.",
                SOON,
                cause);
    }

    /** Maps rows of {@link BoundedRows}. An unreadable or unusable row is left out and logged. */
    static <T> List<T> each(Iterable<JsonNode> rows, String what, Function<JsonNode, T> map) {
        return mapped(rows, ReadRows.optional(what, RowWeight.OF_CONDITIONS, map));
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

    static long add(JsonNode row, ReadRows<?> to) {
        return to.add(row.path("name").asText(), row.path("row").textValue());
    }
}
