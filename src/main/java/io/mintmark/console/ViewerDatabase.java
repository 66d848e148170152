package io.mintmark.console;

import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.limit.SharedPermits.Permit;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.ReadOnlyDatabase;
import io.mintmark.base.time.Timeout;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The database as one viewer sees it. Row-level security holds every row against the claims of the
 * transaction, so a question that forgets its condition shows nothing that isn't the viewer's.
 *
 * <p>One viewer has half of the connections at most, so that none can keep the others waiting.
 */
public final class ViewerDatabase implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ViewerDatabase.class);
    private static final Bounds BOUNDS = new Bounds(Duration.ofSeconds(3), Duration.ofSeconds(6));
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

    /**
     * The time limits of a page.
     *
     * @param timeout until it has a connection
     * @param longest all of its statements together
     */
    record Bounds(Duration timeout, Duration longest) {}

    private final ReadOnlyDatabase database;
    private final Bounds bounds;

    /**
     * The permits for connections, by the viewer's name. They are fair: with more threads than
     * connections, no thread starves.
     */
    private final SharedPermits<String> connections;

    /**
     * @param size how many connections the database has
     */
    public ViewerDatabase(ReadOnlyDatabase database, int size) {
        this(database, size, BOUNDS);
    }

    ViewerDatabase(ReadOnlyDatabase database, int size, Bounds bounds) {
        this.database = database;
        this.bounds = bounds;
        this.connections = new SharedPermits<>(size, Math.max(1, size / 2));
    }

    /**
     * Runs a page's queries with what the viewer may see.
     *
     * @throws ReadingFailed if the queries aren't answered
     */
    public <T> T read(Viewer viewer, Reading<T> reading) {
        try (Permit _ = permit(viewer)) {
            return inTime(viewer, reading);
        }
    }

    /**
     * The database limits the time of a statement; this limits the total time of many short ones.
     */
    private <T> T inTime(Viewer viewer, Reading<T> reading) {
        AtomicBoolean late = new AtomicBoolean();
        try (Connection connection = database.connection();
                Timeout _ = Timeout.after(bounds.longest(), () -> cut(connection, late))) {
            return as(viewer, connection, reading);
        } catch (SQLException e) {
            throw late.get()
                    ? new ReadingFailed(ReadingFailed.Why.TOO_SLOW, "the page took too long")
                    : new ReadingFailed(e);
        }
    }

    private static void cut(Connection connection, AtomicBoolean late) {
        late.set(true);
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.debug("A page that took too long was cancelled", e);
        }
    }

    private static <T> T as(Viewer viewer, Connection connection, Reading<T> reading)
            throws SQLException {
        try {
            Query.of(LOOKS, viewer.claims()).execute(connection);
            return reading.from(connection);
        } finally {
            connection.rollback();
        }
    }

    private Permit permit(Viewer viewer) {
        return connections
                .acquire(viewer.name(), bounds.timeout())
                .orElseThrow(() ->
                        new ReadingFailed(
                                ReadingFailed.Why.BUSY,
                                Thread.currentThread().isInterrupted()
                                        ? "interrupted"
                                        : "no connection became free"));
    }

    @Override
    public void close() {
        database.close();
    }
}
