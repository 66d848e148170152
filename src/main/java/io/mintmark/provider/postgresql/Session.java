package io.mintmark.provider.postgresql;

import io.mintmark.base.outbound.DriverConnection;
import io.mintmark.base.time.Timeout;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/** One connection of the broker's to a server. Its deadline cuts it. */
final class Session implements AutoCloseable {
    private final Server server;
    private final Connection connection;
    private final DriverConnection dial;
    private final Timeout timeout;
    private final Instant deadline;
    private final InstantSource clock;

    /**
     * @param timeout closes the dial at the deadline
     */
    Session(
            Server server,
            Connection connection,
            DriverConnection dial,
            Timeout timeout,
            Instant deadline,
            InstantSource clock) {
        this.server = server;
        this.connection = connection;
        this.dial = dial;
        this.timeout = timeout;
        this.deadline = deadline;
        this.clock = clock;
    }

    /** The major version of the server. */
    int version() throws TargetFailure {
        try {
            return connection.getMetaData().getDatabaseMajorVersion();
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    /** Requires a primary. A standby may lack new roles, and can't end anything. */
    void requirePrimary() throws TargetFailure {
        if (column("SELECT pg_is_in_recovery()").contains("t")) {
            throw TargetFailure.standby(server);
        }
    }

    /** Executes statements, each in a transaction of its own if none was begun. */
    void execute(String sql) throws TargetFailure {
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            statement.execute(sql);
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    /** The first column of a query's rows, without nulls. */
    List<String> column(String sql) throws TargetFailure {
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            List<String> values = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery(sql)) {
                while (rows.next()) {
                    String value = rows.getString(1);
                    if (value != null) {
                        values.add(value);
                    }
                }
            }
            return values;
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    /** The failure for an answer that no PostgreSQL server gives. */
    TargetFailure unreadable() {
        return TargetFailure.unreadable(server);
    }

    private TargetFailure failure(SQLException e) {
        return clock.instant().isBefore(deadline)
                ? TargetFailure.of(server, e)
                : TargetFailure.late(server, e);
    }

    @Override
    public void close() {
        try (timeout;
                dial) {
            connection.close();
        } catch (SQLException e) {
            // the dial is closed in any case
        }
    }
}
