package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.QueryFailed;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Reads the tables of {@code broker} that a mint needs. Any member can lock one of them, so a read
 * waits briefly, and then asks the history of changes instead, whose table no member can name:
 * schema {@code log} has a view of the same name for each of these tables.
 */
final class ConfigurationRows {
    /**
     * The lock time-out of a read. A mint reads twice at most, so that another tenant's lock delays
     * it by a second at most.
     */
    private static final Duration PATIENCE = Duration.ofMillis(300);

    /** The time, in nanoseconds, for which the tables aren't tried again after they were locked. */
    private static final long LOCKED = Duration.ofSeconds(1).toNanos();

    private final Queries queries;
    private volatile long lockedAt = System.nanoTime() - LOCKED;

    ConfigurationRows(Queries queries) {
        this.queries = queries;
    }

    /**
     * Streams the rows of a query in a transaction of its own.
     *
     * @param sql names tables as {@code broker.x} after a blank, and {@code xmin} by an alias
     */
    <T> T stream(String sql, List<?> parameters, Query.Mapping<T> reader) {
        if (System.nanoTime() - lockedAt >= LOCKED) {
            try {
                return queries.stream(query(sql, parameters).waitingForLocks(PATIENCE), reader);
            } catch (QueryFailed e) {
                if (!e.isLocked()) {
                    throw Documents.unreadable(e);
                }
                lockedAt = System.nanoTime();
            }
        }
        try {
            return queries.stream(query(inHistory(sql), parameters), reader);
        } catch (QueryFailed e) {
            throw Documents.unreadable(e);
        }
    }

    private static Query query(String sql, List<?> parameters) {
        return Query.of(sql, parameters.toArray());
    }

    /** A view has no {@code xmin}; two changes of a row differ in {@code updated_at} too. */
    private static String inHistory(String sql) {
        return sql.replace(" broker.", " log.").replace(".xmin", ".updated_at");
    }

    /** The column {@code document} of each row of a query. */
    List<JsonNode> read(String sql, Object... parameters) {
        return stream(
                sql,
                List.of(parameters),
                rows -> {
                    List<JsonNode> documents = new ArrayList<>();
                    while (rows.next()) {
                        documents.add(document(rows));
                    }
                    return documents;
                });
    }

    /**
     * Maps rows of {@link BoundedRows} while they are read, so that only what is made of them is
     * kept. An unreadable or unusable row is left out and logged.
     */
    <T> List<T> each(String sql, String what, Function<JsonNode, T> map, Object... parameters) {
        return stream(
                sql,
                List.of(parameters),
                rows -> {
                    ReadRows<T> read = ReadRows.optional(what, RowWeight.OF_CONDITIONS, map);
                    while (rows.next()) {
                        var _ = Documents.add(document(rows), read);
                    }
                    return read.rows();
                });
    }

    private static JsonNode document(ResultSet row) throws SQLException {
        return DocumentFields.parse(row.getString("document"));
    }
}
