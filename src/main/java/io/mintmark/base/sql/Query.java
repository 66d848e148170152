package io.mintmark.base.sql;

import org.jspecify.annotations.Nullable;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/** A statement with its parameters, for connections whose transaction and session matter. */
public final class Query {
    private final String sql;
    private final @Nullable Object[] parameters;
    private final int fetched;
    private final boolean preceded;

    private Query(String sql, @Nullable Object[] parameters, int fetched, boolean preceded) {
        this.sql = sql;
        this.parameters = parameters;
        this.fetched = fetched;
        this.preceded = preceded;
    }

    /** Makes a value of a row. */
    public interface Mapping<T> {
        T map(ResultSet row) throws SQLException;
    }

    public interface Rows {
        void accept(ResultSet row) throws SQLException;
    }

    /**
     * A statement and its parameters.
     *
     * @param parameters texts, numbers, times, optional ones, and lists of texts, numbers or ids,
     *     in the order of the question marks
     */
    public static Query of(String sql, @Nullable Object... parameters) {
        return new Query(sql, parameters, 0, false);
    }

    /**
     * Keeps at most so many rows in memory; only in a transaction, as the driver fetches all rows
     * otherwise.
     */
    public Query fetching(int rows) {
        return new Query(sql, parameters, rows, preceded);
    }

    /**
     * Limits how long {@link #read} waits for a lock, and with it the rest of the transaction. The
     * limit goes to the server with the query.
     */
    public Query waitingForLocks(Duration most) {
        String limited = "SET LOCAL lock_timeout = %d; %s".formatted(most.toMillis(), sql);
        return new Query(limited, parameters, fetched, true);
    }

    /** Lets a reader step through the rows, as far as it likes. */
    public <T> T read(Connection connection, Mapping<T> rows) throws SQLException {
        try (PreparedStatement statement = bound(connection);
                ResultSet found = found(statement)) {
            return rows.map(found);
        }
    }

    private ResultSet found(PreparedStatement statement) throws SQLException {
        if (!preceded) {
            return statement.executeQuery();
        }
        var _ = statement.execute();
        var _ = statement.getMoreResults();
        return statement.getResultSet();
    }

    /** Passes on each row of the answer. */
    public void each(Connection connection, Rows rows) throws SQLException {
        try (PreparedStatement statement = bound(connection);
                ResultSet found = statement.executeQuery()) {
            while (found.next()) {
                rows.accept(found);
            }
        }
    }

    /** All rows of the answer. */
    public <T> List<T> list(Connection connection, Mapping<T> mapping) throws SQLException {
        List<T> rows = new ArrayList<>();
        each(connection, row -> rows.add(mapping.map(row)));
        return rows;
    }

    /** The first row of the answer, or none. */
    public <T> Optional<T> first(Connection connection, Mapping<T> mapping) throws SQLException {
        return list(connection, mapping).stream().findFirst();
    }

    /** Runs a statement whose result doesn't matter. */
    public void execute(Connection connection) throws SQLException {
        try (PreparedStatement statement = bound(connection)) {
            var _ = statement.execute();
        }
    }

    private PreparedStatement bound(Connection connection) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        try {
            statement.setFetchSize(fetched);
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, bound(connection, parameters[i]));
            }
            return statement;
        } catch (SQLException e) {
            statement.close();
            throw e;
        }
    }

    private static @Nullable Object bound(Connection connection, @Nullable Object value)
            throws SQLException {
        return switch (value) {
            case Optional<?> optional -> bound(connection, optional.orElse(null));
            case Instant at -> at.atOffset(ZoneOffset.UTC);
            case List<?> list -> connection.createArrayOf(type(list), list.toArray());
            case null, default -> value;
        };
    }

    private static String type(List<?> list) {
        Object first =
                list.stream()
                        .filter(Objects::nonNull)
                        .map(Object.class::cast)
                        .findFirst()
                        .orElse(null);
        return switch (first) {
            case Long _ -> "bigint";
            case UUID _ -> "uuid";
            case null, default -> "text";
        };
    }

    public static Optional<String> text(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getString(column));
    }

    /** An array of texts; empty where the column is null. */
    public static List<String> texts(ResultSet row, String column) throws SQLException {
        Array texts = row.getArray(column);
        return texts == null ? List.of() : List.of((String[]) texts.getArray());
    }

    public static Optional<Long> number(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, Long.class));
    }

    public static Instant time(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    /** A time; empty where the column is null. */
    public static Optional<Instant> timeIfAny(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
                .map(OffsetDateTime::toInstant);
    }
}
