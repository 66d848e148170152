package io.mintmark.auditor.export;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.log.AuditConnection;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;

import java.util.Optional;

/** One state of the database, which several connections read for as long as it is open. */
public final class ExportedSnapshot implements AutoCloseable {
    private static final String EXPORTED = "SELECT pg_export_snapshot()";

    private final AuditConnection connection;
    private final DatabaseLogin login;

    /**
     * Takes the snapshot.
     *
     * @throws StoreUnreachable if there is no connection
     */
    public ExportedSnapshot(DatabaseLogin login) {
        this.connection = new AuditConnection(login, "");
        try {
            String snapshot =
                    connection.list(Query.of(EXPORTED), row -> row.getString(1)).getFirst();
            this.login =
                    new DatabaseLogin(
                            login.url(), login.username(), login.password(), Optional.of(snapshot));
        } catch (StoreUnreachable e) {
            connection.close();
            throw e;
        }
    }

    /** A login whose audit connections see this state. */
    public DatabaseLogin login() {
        return login;
    }

    @Override
    public void close() {
        connection.close();
    }
}
