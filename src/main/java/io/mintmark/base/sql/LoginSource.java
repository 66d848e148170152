package io.mintmark.base.sql;

import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.util.PSQLState;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Opens connections with the password that the login has at that moment, and remembers why the last
 * attempt failed: a pool forgets, and reports that a time is over.
 */
public final class LoginSource extends PGSimpleDataSource {
    private static final long serialVersionUID = 1L;

    private final transient DatabaseLogin login;
    private transient Optional<ServiceSession> session = Optional.empty();
    private transient volatile @Nullable SQLException failure;

    LoginSource(DatabaseLogin login) {
        this.login = login;
    }

    /** The limit of a login, over all hosts of the URL, in seconds. */
    void limitLogin(int seconds) {
        super.setLoginTimeout(seconds);
    }

    /**
     * Ignored. A pool sets how long its callers wait for a connection. A login may take longer
     * where processors are busy or the first of several hosts is down, and if each attempt were
     * given up then, none would ever succeed.
     */
    @Override
    public void setLoginTimeout(int seconds) {}

    /** Requires these settings of every connection from now on. */
    void requires(ServiceSession settings) {
        session = Optional.of(settings);
    }

    @Override
    public Connection getConnection() throws SQLException {
        long began = System.nanoTime();
        try {
            Connection connection =
                    getConnection(login.username(), login.password().get().orElse(null));
            require(connection);
            failure = null;
            return connection;
        } catch (SQLException e) {
            SQLException known =
                    isLate(e, began) ? new SQLTimeoutException("late", e.getSQLState()) : e;
            failure = known;
            throw known;
        }
    }

    /** The driver has no class for it, and translates its message. */
    private boolean isLate(SQLException e, long began) {
        return e.getCause() == null
                && PSQLState.CONNECTION_UNABLE_TO_CONNECT.getState().equals(e.getSQLState())
                && System.nanoTime() - began >= TimeUnit.SECONDS.toNanos(getLoginTimeout());
    }

    private void require(Connection connection) throws SQLException {
        if (session.isPresent()) {
            try {
                session.get().require(connection);
            } catch (SQLException e) {
                connection.close();
                throw e;
            }
        }
    }

    /** The reason why the last attempt to connect failed; empty if it succeeded. */
    Optional<SQLException> failure() {
        return Optional.ofNullable(failure);
    }
}
