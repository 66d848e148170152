package io.mintmark.audit.log;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A connection that reads one state of the log, for as long as it takes, a few rows at a time.
 * Every method throws {@link StoreUnreachable} if the log can't be read.
 */
public final class AuditConnection implements AutoCloseable {
    /**
     * Rows come along the index of chains without sorting, for any number of rows. Up to PostgreSQL
     * 17 the forced plan has an absurd cost, for which the server would start parallel workers.
     */
    public static final String ALONG_CHAINS =
            "-c enable_sort=off -c enable_seqscan=off -c enable_bitmapscan=off"
                    + " -c enable_incremental_sort=off -c max_parallel_workers_per_gather=0";

    private static final int FETCHED = 2_000;

    /** The login sets it too, but a pooler may drop what a login sets. */
    private static final String SEARCH_PATH = "SET LOCAL search_path = pg_catalog, pg_temp";

    private final Connection connection;

    public interface Use {
        void of(Connection connection) throws SQLException;
    }

    /**
     * Opens the connection.
     *
     * @param options settings of the session, {@code -c name=value}
     */
    public AuditConnection(DatabaseLogin login, String options) {
        try {
            connection = login.source("mintmark audit", options).getConnection();
        } catch (SQLException e) {
            throw unreachable(e);
        }
        try {
            begin(login.snapshot());
        } catch (StoreUnreachable e) {
            closeAfter(e);
            throw e;
        }
    }

    private void closeAfter(StoreUnreachable failure) {
        try {
            connection.close();
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }

    private void begin(Optional<String> snapshot) {
        use(it -> {
            it.setReadOnly(true);
            it.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            it.setAutoCommit(false);
            if (snapshot.isPresent()) {
                Query.of("SET TRANSACTION SNAPSHOT '%s'".formatted(snapshot.get())).execute(it);
            }
            Query.of(SEARCH_PATH).execute(it);
        });
    }

    /** Passes on each row of the answer. */
    public void each(Query query, Query.Rows rows) {
        use(it -> query.fetching(FETCHED).each(it, rows));
    }

    /** All rows of the answer. */
    public <T> List<T> list(Query query, Query.Mapping<T> mapping) {
        List<T> rows = new ArrayList<>();
        each(query, row -> rows.add(mapping.map(row)));
        return rows;
    }

    /** Runs work that isn't a query of rows. */
    public void use(Use use) {
        try {
            use.of(connection);
        } catch (SQLException e) {
            throw unreachable(e);
        }
    }

    /** Ends the transaction. The next query reads the log as it is then. */
    public void release() {
        use(Connection::rollback);
    }

    @Override
    public void close() {
        use(it -> {
            try (Connection closing = it) {
                closing.rollback();
            }
        });
    }

    private static StoreUnreachable unreachable(SQLException cause) {
        return new StoreUnreachable(
                "the audit log can't be read: " + cause.getMessage(), false, cause);
    }
}
