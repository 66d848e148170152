package io.mintmark.postgres.connection;

import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

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

    /** From now on, no connection without these settings. */
    void requires(ServiceSession settings) {
        session = Optional.of(settings);
    }

    @Override
    public Connection getConnection() throws SQLException {
        try {
            Connection connection =
                    getConnection(login.username(), login.password().get().orElse(null));
            require(connection);
            failure = null;
            return connection;
        } catch (SQLException e) {
            failure = e;
            throw e;
        }
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

    /** Why the last attempt to connect failed; empty if it succeeded. */
    Optional<SQLException> failure() {
        return Optional.ofNullable(failure);
    }
}
