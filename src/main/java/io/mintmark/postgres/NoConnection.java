package io.mintmark.postgres;

import java.sql.SQLException;

/** No connection could be had, so nothing can have been done. */
final class NoConnection extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NoConnection(SQLException cause) {
        super("no connection to the database", cause);
    }
}
