package io.mintmark.console;

import io.mintmark.postgres.ReadOnlyDatabase;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The database as one viewer sees it. Row-level security holds every row against the claims of the
 * transaction, so a question that forgets its condition shows nothing that isn't the viewer's.
 */
public final class ViewerDatabase implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(3);
    private static final String LOOKS =
            "SELECT pg_catalog.set_config('mintmark.console_claims', ?, true)";

    /** The questions of one page, in one read-only transaction on one snapshot. */
    public interface Reading<T> {
        /**
         * Asks them.
         *
         * @param connection neither to be committed, nor closed, nor kept
         */
        T from(Connection connection) throws SQLException;
    }

    private final ReadOnlyDatabase database;

    /** Fair, so that a pool with more threads than connections starves none. */
    private final Semaphore connections;

    /**
     * @param size how many connections the database has
     */
    public ViewerDatabase(ReadOnlyDatabase database, int size) {
        this.database = database;
        this.connections = new Semaphore(size, true);
    }

    /**
     * What a viewer may see of what is asked.
     *
     * @throws ReadingFailed if the questions aren't answered
     */
    public <T> T read(Viewer viewer, Reading<T> reading) {
        await();
        try (Connection connection = database.connection()) {
            return as(viewer, connection, reading);
        } catch (SQLException e) {
            throw new ReadingFailed(e);
        } finally {
            connections.release();
        }
    }

    private static <T> T as(Viewer viewer, Connection connection, Reading<T> reading)
            throws SQLException {
        try {
            try (PreparedStatement looks = connection.prepareStatement(LOOKS)) {
                looks.setString(1, viewer.claims());
                looks.execute();
            }
            return reading.from(connection);
        } finally {
            connection.rollback();
        }
    }

    private void await() {
        try {
            if (!connections.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new ReadingFailed(ReadingFailed.Why.BUSY, "no connection became free");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ReadingFailed(ReadingFailed.Why.BUSY, "interrupted");
        }
    }

    @Override
    public void close() {
        database.close();
    }
}
