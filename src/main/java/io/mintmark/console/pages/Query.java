package io.mintmark.console.pages;

import org.jspecify.annotations.Nullable;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A question of a page, with what it is asked about. */
final class Query {
    private final String sql;
    private final @Nullable Object[] parameters;

    private Query(String sql, @Nullable Object[] parameters) {
        this.sql = sql;
        this.parameters = parameters;
    }

    /** A row as a page wants it. */
    interface Mapping<T> {
        T map(ResultSet row) throws SQLException;
    }

    /** Texts, numbers, times, ids and arrays of ids, in the order of the question marks. */
    static Query of(String sql, @Nullable Object... parameters) {
        return new Query(sql, parameters);
    }

    /** All rows of the answer. */
    <T> List<T> list(Connection connection, Mapping<T> mapping) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, bound(connection, parameters[i]));
            }
            List<T> rows = new ArrayList<>();
            try (ResultSet found = statement.executeQuery()) {
                while (found.next()) {
                    rows.add(mapping.map(found));
                }
            }
            return rows;
        }
    }

    /** The one row of the answer, or none. */
    <T> Optional<T> first(Connection connection, Mapping<T> mapping) throws SQLException {
        return list(connection, mapping).stream().findFirst();
    }

    private static @Nullable Object bound(Connection connection, @Nullable Object value)
            throws SQLException {
        return switch (value) {
            case Instant at -> at.atOffset(ZoneOffset.UTC);
            case List<?> ids -> connection.createArrayOf("text", ids.toArray());
            case null, default -> value;
        };
    }

    static Optional<String> text(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getString(column));
    }

    /** An array of texts; without any where there is none. */
    static List<String> texts(ResultSet row, String column) throws SQLException {
        Array texts = row.getArray(column);
        return texts == null ? List.of() : List.of((String[]) texts.getArray());
    }

    static Optional<Long> number(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, Long.class));
    }

    static Instant time(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    static Optional<Instant> timeIfAny(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
                .map(OffsetDateTime::toInstant);
    }
}
