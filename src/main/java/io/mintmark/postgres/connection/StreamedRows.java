package io.mintmark.postgres.connection;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/**
 * The rows of a query, fetched a few at a time, so that a reader which stops early has never held
 * more. One statement in a transaction of its own, so that all rows are of one moment.
 */
public final class StreamedRows {
    /** How many rows are held at once. */
    private static final int FETCHED = 20;

    private StreamedRows() {}

    /** Reads rows until it has enough. */
    public interface Reader<T> {
        T read(ResultSet rows) throws SQLException;
    }

    static <T> T read(Connection connection, String sql, List<String> parameters, Reader<T> reader)
            throws SQLException {
        connection.setAutoCommit(false); // the driver fetches all rows otherwise
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setFetchSize(FETCHED);
            for (int i = 0; i < parameters.size(); i++) {
                statement.setString(i + 1, parameters.get(i));
            }
            try (ResultSet rows = statement.executeQuery()) {
                return reader.read(rows);
            }
        } finally {
            connection.rollback();
        }
    }
}
