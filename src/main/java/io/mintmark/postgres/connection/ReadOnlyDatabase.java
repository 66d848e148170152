package io.mintmark.postgres.connection;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import org.postgresql.ds.PGSimpleDataSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Connections for a program beside the broker that only looks: few of them, each in one read-only
 * transaction on one snapshot, with statements that end by themselves and take one core.
 */
public final class ReadOnlyDatabase implements AutoCloseable {
    private static final Duration CONNECTING = Duration.ofSeconds(1);
    private static final Duration VALIDATING = Duration.ofMillis(500);
    private static final int SOCKET_TIMEOUT_SECONDS = 10;

    /** Plans are made anew: one that fits many values of a condition fits none of them well. */
    private static final String SESSION =
            "-c default_transaction_read_only=on -c statement_timeout=3000 -c lock_timeout=1000"
                    + " -c idle_in_transaction_session_timeout=5000 -c TimeZone=UTC"
                    + " -c max_parallel_workers_per_gather=0 -c plan_cache_mode=force_custom_plan"
                    + " -c jit=off";

    private final HikariDataSource pool;

    /**
     * Makes the pool; connections are opened when they are needed.
     *
     * @param application the name in PostgreSQL's list of sessions
     * @param size at most so many
     */
    public ReadOnlyDatabase(DatabaseLogin login, String application, int size) {
        PGSimpleDataSource source = login.source(application, SESSION);
        source.setSocketTimeout(SOCKET_TIMEOUT_SECONDS);
        HikariConfig config = new HikariConfig();
        config.setPoolName(application);
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(CONNECTING.toMillis());
        config.setValidationTimeout(VALIDATING.toMillis());
        config.setInitializationFailTimeout(-1);
        config.setReadOnly(true);
        config.setAutoCommit(false);
        config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
        this.pool = new HikariDataSource(config);
    }

    /** One for a transaction, which ends with it: what isn't committed is rolled back. */
    public Connection connection() throws SQLException {
        return pool.getConnection();
    }

    @Override
    public void close() {
        pool.close();
    }
}
