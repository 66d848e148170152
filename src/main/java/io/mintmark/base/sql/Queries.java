package io.mintmark.base.sql;

import io.helidon.dbclient.DbClient;
import io.helidon.dbclient.DbRow;
import io.helidon.dbclient.DbTransaction;
import io.mintmark.base.sql.CommitThenQuery.Result;
import io.mintmark.base.sql.Database.NoConnection;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Single statements, each a transaction of its own, over a bounded share of the connections. Who
 * has to wait is served in turn: a pool alone starves some when many threads want it.
 */
public final class Queries {
    private static final long PATIENCE_SECONDS = 5;
    private static final int FETCHED = 20;

    private final DbClient client;
    private final Semaphore share;
    private final LockWaits locks;

    /**
     * @param locks describes what a statement of any share waited for
     */
    Queries(DbClient client, int connections, LockWaits locks) {
        this.client = client;
        this.share = new Semaphore(connections, true);
        this.locks = locks;
    }

    /** All rows of a query. Throws {@link QueryFailed}. */
    public <T> List<T> query(String sql, Map<String, ?> parameters, Function<DbRow, T> each) {
        return shared(() ->
                client.execute().createQuery(sql).params(parameters).execute().map(each).toList());
    }

    /** Queries with a question mark for each parameter, which spares looking for names. */
    public <T> List<T> query(String sql, List<?> parameters, Function<DbRow, T> each) {
        return shared(() ->
                client.execute().createQuery(sql).params(parameters).execute().map(each).toList());
    }

    /** The number of rows that a statement changed. Throws {@link QueryFailed}. */
    public long change(String sql, Map<String, ?> parameters) {
        return shared(() -> client.execute().createDmlStatement(sql).params(parameters).execute());
    }

    /** Changes rows, with a question mark for each parameter. */
    public long change(String sql, List<?> parameters) {
        return shared(() -> client.execute().createDmlStatement(sql).params(parameters).execute());
    }

    /**
     * Changes rows, commits, and asks, in one exchange; by JDBC, since a DbClient gives the first
     * result only. Throws {@link QueryFailed}.
     */
    public <T> Result<T> commitThenQuery(
            CommitThenQuery statements,
            List<String> parameters,
            String[] asked,
            Query.Mapping<T> each) {
        return shared(() -> {
            try (Connection connection = client.unwrap(Connection.class)) {
                return statements.run(connection, parameters, asked, each);
            } catch (SQLException e) {
                throw failed(e);
            }
        });
    }

    /** Runs a change and rolls it back. Throws {@link QueryFailed}. */
    public void rehearse(String sql, List<?> parameters) {
        var _ =
                shared(() -> {
                    DbTransaction transaction = client.transaction();
                    try {
                        return transaction.createDmlStatement(sql).params(parameters).execute();
                    } finally {
                        transaction.rollback();
                    }
                });
    }

    /**
     * The rows of a query, fetched a few at a time, so that a reader which stops early has never
     * held more. Throws {@link QueryFailed}.
     */
    public <T> T stream(Query query, Query.Mapping<T> reader) {
        return shared(() -> {
            try (Connection connection = client.unwrap(Connection.class)) {
                connection.setAutoCommit(false);
                try {
                    return query.fetching(FETCHED).read(connection, reader);
                } finally {
                    connection.rollback();
                }
            } catch (SQLException e) {
                throw failed(e);
            }
        });
    }

    /** Threads that wait for one of the connections, roughly. */
    int waiting() {
        return share.getQueueLength();
    }

    private <T> T shared(Supplier<T> work) {
        if (!acquire()) {
            throw new QueryFailed("all connections to the database are in use", null, false);
        }
        try {
            return work.get();
        } catch (QueryFailed e) {
            throw e;
        } catch (NoConnection e) {
            throw new QueryFailed("the database can't be reached", null, false, e);
        } catch (RuntimeException e) {
            throw failed(e);
        } finally {
            share.release();
        }
    }

    private boolean acquire() {
        try {
            return share.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private RuntimeException failed(RuntimeException e) {
        SQLException cause = sqlException(e);
        return cause == null ? e : failed(cause);
    }

    private QueryFailed failed(SQLException e) {
        if (LockWaits.LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
            return new QueryFailed(locks.describe(), e.getSQLState(), true, e);
        }
        if (LockWaits.OUT_OF_SHARED_MEMORY.equals(e.getSQLState())) {
            return new QueryFailed(locks.describeFullTable(), e.getSQLState(), true, e);
        }
        return new QueryFailed("PostgreSQL rejected a statement", e.getSQLState(), true, e);
    }

    private static @Nullable SQLException sqlException(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof SQLException found) {
                return found;
            }
        }
        return null;
    }
}
