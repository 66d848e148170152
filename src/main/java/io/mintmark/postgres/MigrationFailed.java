package io.mintmark.postgres;

import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

import java.sql.SQLException;

/** The schema could not be brought up to date. The message is one line for an operator. */
public final class MigrationFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private MigrationFailed(String message, Throwable cause) {
        super(message, cause);
    }

    static MigrationFailed because(Throwable failure) {
        SQLException cause = sqlException(failure);
        String said = cause == null ? String.valueOf(failure.getMessage()) : said(cause);
        return new MigrationFailed(said.strip().replaceAll("\\s+", " "), failure);
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

    private static @Nullable SQLException sqlException(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof SQLException found) {
                return found;
            }
        }
        return null;
    }
}
