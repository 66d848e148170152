package io.mintmark.base.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.SQLExceptionOverride;

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
    private static final int WRITERS = 2;
    private static final int CONNECTIONS = 10;
    static final Duration CONNECTING = Duration.ofSeconds(1);
    private static final Duration VALIDATING = Duration.ofMillis(500);

    private static final int LOGIN_SECONDS = 5;
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
    public static final class NoConnection extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NoConnection(SQLException cause) {
            super("the broker has no connection to the database", cause);
        }
    }

    private final HikariDataSource pool;
    private final Queries reading;
    private final Queries writing;

    /** A pool of 10; connections are opened when they are needed. */
    public Database(DatabaseLogin login) {
        this(login, CONNECTIONS);
    }

    /**
     * A pool of another size.
     *
     * @param connections at most so many, from 3; two of them write
     */
    public Database(DatabaseLogin login, int connections) {
        this(login, connections, CONNECTING);
    }

    /**
     * Connects with another connection timeout.
     *
     * @param connecting the maximum time to wait for a connection, and for a host to accept one
     */
    public Database(DatabaseLogin login, int connections, Duration connecting) {
        LoginSource source = login.source("mintmark", ServiceSession.OPTIONS);
        source.requires(new ServiceSession(login.username()));
        HikariConfig config = pool("mintmark", source, connections, connecting);
        config.setMinimumIdle(WRITERS);
        config.setExceptionOverride(new StandbyLeaves());
        this.pool = new HikariDataSource(config);
        OwnPool own = new OwnPool(pool, source);
        DbClient client = JdbcClientBuilder.create().connectionPool(own).build();
        LockWaits locks = new LockWaits(pool::getConnection);
        this.reading = new Queries(client, connections - WRITERS, locks);
        this.writing = new Queries(client, WRITERS, locks);
    }

    /** A pool that starts without a database, and finds out soon that one is gone. */
    static HikariConfig pool(String name, LoginSource source, int most, Duration connecting) {
        int seconds = Math.toIntExact(Math.max(1, connecting.toSeconds()));
        source.setConnectTimeout(seconds);
        source.limitLogin(Math.max(LOGIN_SECONDS, seconds));
        source.setSocketTimeout(SOCKET_TIMEOUT_SECONDS);
        HikariConfig config = new HikariConfig();
        // else the pool asks its first connection; if that one breaks meanwhile, it takes no other
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        config.setPoolName(name);
        config.setDataSource(source);
        config.setMaximumPoolSize(most);
        config.setConnectionTimeout(connecting.toMillis());
        config.setValidationTimeout(VALIDATING.toMillis());
        config.setInitializationFailTimeout(-1);
        return config;
    }

    /** Runs queries, for callers that only read. */
    public Queries reading() {
        return reading;
    }

    /** Runs the statements of the audit log. */
    public Queries writing() {
        return writing;
    }

    /** Opens a connection for a transaction of several statements. Close it soon. */
    public Connection connection() throws SQLException {
        return pool.getConnection();
    }

    /** Closes all connections as soon as they are free; those in use stay usable. */
    void reconnect() {
        pool.getHikariPoolMXBean().softEvictConnections();
    }

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

    /**
     * Takes a connection out of the pool that can't be written to any more. Behind a pooler
     * connections stay open when the primary becomes a standby.
     */
    private static final class StandbyLeaves implements SQLExceptionOverride {
        private static final String READ_ONLY = "25006";

        @java.lang.Override
        public SQLExceptionOverride.Override adjudicate(SQLException failure) {
            return READ_ONLY.equals(failure.getSQLState())
                    ? SQLExceptionOverride.Override.MUST_EVICT
                    : SQLExceptionOverride.Override.CONTINUE_EVICT;
        }
    }
}
