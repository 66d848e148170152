package io.mintmark.base.sql;

import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;

/**
 * The database is not such that the broker can work with it. The message is one line for an
 * operator.
 */
public final class DatabaseUnfit extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** PostgreSQL's words for a server that starts, stops, or is full. */
    private static final Set<String> FOR_NOW = Set.of("57P01", "57P02", "57P03", "53300");

    private final boolean unreachable;

    public DatabaseUnfit(String message, Throwable cause) {
        super(message, cause);
        this.unreachable = isUnreachable(sqlException(cause));
    }

    public DatabaseUnfit(String message) {
        super(message);
        this.unreachable = false;
    }

    /** Whether the database couldn't be reached, which may be temporary. */
    public boolean isUnreachable() {
        return unreachable;
    }

    private static boolean isUnreachable(@Nullable SQLException cause) {
        if (cause == null || cause instanceof SQLTransientConnectionException) {
            return cause != null;
        }
        String state = cause.getSQLState();
        return state != null && (state.startsWith("08") || FOR_NOW.contains(state));
    }

    public static DatabaseUnfit because(Throwable failure) {
        SQLException cause = sqlException(failure);
        String said = cause == null ? String.valueOf(failure.getMessage()) : said(cause);
        return new DatabaseUnfit(said.strip().replaceAll("\\s+", " "), failure);
    }

    private static String said(SQLException cause) {
        if (cause instanceof SQLTransientConnectionException) {
            return "the server accepted no connection in"
                    + " time"; // the pool's own words have its numbers
        }
        ServerErrorMessage server =
                cause instanceof PSQLException known ? known.getServerErrorMessage() : null;
        if (server == null) {
            return ConnectionFault.detailed(cause)
                    .orElseGet(() -> String.valueOf(cause.getMessage()));
        }
        String hint = server.getHint();
        return hint == null
                ? String.valueOf(server.getMessage())
                : server.getMessage() + " " + hint;
    }

    /** The innermost SQL exception, because a pool wraps the server's message in its own. */
    private static @Nullable SQLException sqlException(Throwable failure) {
        SQLException innermost = null;
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof SQLException found) {
                innermost = found;
            }
        }
        return innermost;
    }
}
