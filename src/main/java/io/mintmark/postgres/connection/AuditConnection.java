package io.mintmark.postgres.connection;

import io.mintmark.audit.StoreUnreachable;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** A connection that reads one state of the log, for as long as it takes. */
public final class AuditConnection {
    /** The login sets it too, but a pooler may drop what a login sets. */
    private static final String SEARCH_PATH = "SET LOCAL search_path = pg_catalog, pg_temp";

    private AuditConnection() {}

    /**
     * Opens a connection that reads one state of the log.
     *
     * @param options settings of the session, {@code -c name=value}
     * @throws StoreUnreachable if there is no connection
     */
    public static Connection open(DatabaseLogin login, String options) {
        try {
            Connection connection = login.source("mintmark audit", options).getConnection();
            connection.setReadOnly(true);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                if (login.snapshot().isPresent()) {
                    statement.execute(
                            "SET TRANSACTION SNAPSHOT '%s'".formatted(login.snapshot().get()));
                }
                statement.execute(SEARCH_PATH);
            }
            return connection;
        } catch (SQLException e) {
            throw unreachable(e);
        }
    }

    public static void close(Connection connection) {
        try (Connection closing = connection) {
            closing.rollback();
        } catch (SQLException e) {
            throw unreachable(e);
        }
    }

    public static StoreUnreachable unreachable(SQLException cause) {
        return new StoreUnreachable(
                "the audit log can't be read: " + cause.getMessage(), false, cause);
    }
}
