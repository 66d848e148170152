package io.mintmark.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;

import io.helidon.dbclient.DbClient;
import io.helidon.dbclient.jdbc.JdbcClientBuilder;
import io.helidon.dbclient.jdbc.JdbcConnectionPool;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The connections of the running service. Reading and writing have shares of their own, so that
 * readers can't keep the audit log waiting. A database that is gone is found out in milliseconds
 * and found back by itself.
 */
public final class Database implements AutoCloseable {
    private static final int READERS = 8;
    private static final int WRITERS = 2;
    private static final Duration CONNECTING = Duration.ofSeconds(1);
    private static final Duration VALIDATING = Duration.ofMillis(500);

    /** Settings of every connection, independent of the server's defaults. */
    private static final String SESSION =
            "-c synchronous_commit=on -c statement_timeout=5000 -c lock_timeout=4000"
                    + " -c idle_in_transaction_session_timeout=10000 -c TimeZone=UTC";

    private static final int SOCKET_TIMEOUT_SECONDS = 10;

    /**
     * What the service's connections are doing.
     *
     * @param active in use
     * @param idle open, and not in use
     * @param waiting threads that want one
     */
    public record PoolNumbers(int active, int idle, int waiting) {}

    /** There was no connection, so nothing can have been done. */
    static final class NoConnection extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NoConnection(SQLException cause) {
            super("no connection to the database", cause);
        }
    }

    private final HikariDataSource pool;
    private final Queries reading;
    private final Queries writing;

    /** Makes the pool; connections are opened when they are needed. */
    public Database(DatabaseLogin login) {
        this(login, CONNECTING);
    }

    /**
     * The same with another connection timeout.
     *
     * @param connecting the maximum time to connect
     */
    public Database(DatabaseLogin login, Duration connecting) {
        LoginSource source = login.source("mintmark", SESSION);
        source.setSocketTimeout(SOCKET_TIMEOUT_SECONDS);
        this.pool = new HikariDataSource(configuration(source, connecting));
        OwnPool own = new OwnPool(pool, source);
        DbClient client = JdbcClientBuilder.create().connectionPool(own).build();
        this.reading = new Queries(client, READERS);
        this.writing = new Queries(client, WRITERS);
    }

    private static HikariConfig configuration(LoginSource source, Duration connecting) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("mintmark");
        config.setDataSource(source);
        config.setMaximumPoolSize(READERS + WRITERS);
        config.setMinimumIdle(WRITERS);
        config.setConnectionTimeout(connecting.toMillis());
        config.setValidationTimeout(VALIDATING.toMillis());
        config.setInitializationFailTimeout(-1);
        return config;
    }

    /** For questions. */
    Queries reading() {
        return reading;
    }

    /** For the audit log. */
    Queries writing() {
        return writing;
    }

    /** For a transaction of several statements; to be closed soon. */
    Connection connection() throws SQLException {
        return pool.getConnection();
    }

    /** The pool's own numbers. */
    public PoolNumbers numbers() {
        HikariPoolMXBean numbers = pool.getHikariPoolMXBean();
        return new PoolNumbers(
                numbers.getActiveConnections(),
                numbers.getIdleConnections(),
                numbers.getThreadsAwaitingConnection() + reading.waiting() + writing.waiting());
    }

    @Override
    public void close() {
        pool.close();
    }

    private record OwnPool(HikariDataSource pool, LoginSource source)
            implements JdbcConnectionPool {
        @Override
        public Connection connection() {
            try {
                return pool.getConnection();
            } catch (SQLException e) {
                throw new NoConnection(source.failure().orElse(e));
            }
        }

        @Override
        public String dbType() {
            return "postgresql";
        }
    }
}
