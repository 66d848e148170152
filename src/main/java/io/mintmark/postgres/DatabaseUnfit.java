package io.mintmark.postgres;

import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

import java.sql.SQLException;

/**
 * The database is not such that the broker can work with it. The message is one line for an
 * operator.
 */
public final class DatabaseUnfit extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DatabaseUnfit(String message, Throwable cause) {
        super(message, cause);
    }

    DatabaseUnfit(String message) {
        super(message);
    }

    static DatabaseUnfit because(Throwable failure) {
        SQLException cause = sqlException(failure);
        String said = cause == null ? String.valueOf(failure.getMessage()) : said(cause);
        return new DatabaseUnfit(said.strip().replaceAll("\\s+", " "), failure);
    }

    private static String said(SQLException cause) {
        ServerErrorMessage server =
                cause instanceof PSQLException known ? known.getServerErrorMessage() : null;
        if (server == null) {
            return String.valueOf(cause.getMessage());
        }
        String hint = server.getHint();
        return hint == null
                ? String.valueOf(server.getMessage())
                : server.getMessage() + " " + hint;
    }

    /** The innermost: a pool wraps what the server said in words of its own. */
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
