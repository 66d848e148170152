package io.mintmark.postgres.export;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.postgres.connection.AuditConnection;
import io.mintmark.postgres.connection.DatabaseLogin;
import io.mintmark.postgres.connection.Query;

import java.sql.Connection;
import java.sql.SQLException;

/** One state of the database, which several connections read for as long as it is open. */
public final class ExportedSnapshot implements AutoCloseable {
    private static final String EXPORTED = "SELECT pg_export_snapshot()";

    private final Connection connection;
    private final DatabaseLogin login;

    /**
     * Takes the snapshot.
     *
     * @throws StoreUnreachable if there is no connection
     */
    public ExportedSnapshot(DatabaseLogin login) {
        this.connection = AuditConnection.open(login, "-c TimeZone=UTC");
        try {
            this.login =
                    new DatabaseLogin(
                            login.url(),
                            login.username(),
                            login.password(),
                            Query.of(EXPORTED).first(connection, row -> row.getString(1)));
        } catch (SQLException e) {
            AuditConnection.close(connection);
            throw AuditConnection.unreachable(e);
        }
    }

    /** A login whose audit connections see this state. */
    public DatabaseLogin login() {
        return login;
    }

    @Override
    public void close() {
        AuditConnection.close(connection);
    }
}
