package io.mintmark.base.sql;

import io.mintmark.base.sql.TestDatabase.Who;

import org.postgresql.util.PSQLWarning;
import org.postgresql.util.ServerErrorMessage;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The warnings that PostgreSQL shows beside the result of a statement, without notices. */
public final class StatementWarnings {
    private StatementWarnings() {}

    /** Runs a statement, and returns its warnings in their order. */
    public static List<String> of(TestDatabase database, Who who, String sql) throws SQLException {
        List<String> warnings = new ArrayList<>();
        try (Connection connection = database.connect(who);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
            for (SQLWarning one = statement.getWarnings();
                    one != null;
                    one = one.getNextWarning()) {
                ServerErrorMessage message =
                        Objects.requireNonNull(((PSQLWarning) one).getServerErrorMessage());
                if ("WARNING".equals(message.getSeverity())) {
                    warnings.add(Objects.requireNonNull(message.getMessage()));
                }
            }
        }
        return warnings;
    }
}
