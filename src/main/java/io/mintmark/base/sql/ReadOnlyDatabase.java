package io.mintmark.base.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Connections for a program beside the broker that only looks: few of them, each in one read-only
 * transaction on one snapshot, with statements that end by themselves and take one core.
 */
public final class ReadOnlyDatabase implements AutoCloseable {
    /** Plans are made anew: one that fits many values of a condition fits none of them well. */
    private static final String SESSION =
            "-c default_transaction_read_only=on -c lock_timeout=1000"
                    + " -c max_parallel_workers_per_gather=0 -c plan_cache_mode=force_custom_plan";

    private static final Duration LONGEST_STATEMENT = Duration.ofSeconds(3);

    /** The idle time of a transaction, in addition to the maximum time of a statement. */
    private static final Duration IDLE = Duration.ofSeconds(2);

    private final HikariDataSource pool;

    /**
     * Makes the pool; connections are opened when they are needed.
     *
     * @param application the name in PostgreSQL's list of sessions
     * @param size at most so many
     */
    public ReadOnlyDatabase(DatabaseLogin login, String application, int size) {
        this(login, application, size, LONGEST_STATEMENT, Database.CONNECTING);
    }

    ReadOnlyDatabase(
            DatabaseLogin login,
            String application,
            int size,
            Duration longestStatement,
            Duration connecting) {
        String session =
                SESSION
                        + " -c statement_timeout="
                        + longestStatement.toMillis()
                        + " -c idle_in_transaction_session_timeout="
                        + longestStatement.plus(IDLE).toMillis();
        HikariConfig config =
                Database.pool(application, login.source(application, session), size, connecting);
        config.setMinimumIdle(1);
        config.setReadOnly(true);
        config.setAutoCommit(false);
        config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
        this.pool = new HikariDataSource(config);
    }

    /** A connection for one transaction. Closing it rolls back what isn't committed. */
    public Connection connection() throws SQLException {
        return pool.getConnection();
    }

    @Override
    public void close() {
        pool.close();
    }
}
