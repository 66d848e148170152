package io.mintmark.base.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Runs SQL for a test, each time in a session of its own. */
public interface SqlRunner {
    Connection connect() throws SQLException;

    default void run(String sql) {
        column(sql);
    }

    /** The first column of all that the statements return, as text. */
    default List<String> column(String sql) {
        try (Connection session = connect()) {
            return column(session, sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** The first column of the only row, as text. */
    default String value(String sql) {
        return only(sql, column(sql));
    }

    /** The first column of all rows, as text, must be this. */
    default void assertRows(String sql, String... expected) {
        assertEquals(List.of(expected), column(sql), sql);
    }

    static String only(String sql, List<String> values) {
        if (values.size() != 1) {
            throw new AssertionError("%d rows instead of one: %s".formatted(values.size(), sql));
        }
        return values.getFirst();
    }

    static List<String> column(Connection session, String sql) throws SQLException {
        try (Statement statement = session.createStatement()) {
            List<String> values = new ArrayList<>();
            boolean rows = statement.execute(sql);
            while (rows || statement.getUpdateCount() >= 0) {
                try (ResultSet result = rows ? statement.getResultSet() : null) {
                    while (result != null && result.next()) {
                        values.add(String.valueOf(result.getString(1)));
                    }
                }
                rows = statement.getMoreResults();
            }
            return values;
        }
    }
}
