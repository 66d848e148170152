package io.mintmark.console;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;

/** A page's questions weren't answered. */
public final class ReadingFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private static final String QUERY_CANCELED = "57014";

    /** The reason that a viewer may see. */
    public enum Why {
        /**
         * The database is unreachable, or other viewers use all connections. A retry may succeed.
         */
        BUSY,
        /** The query exceeded the time limit of a page. */
        TOO_SLOW,
        /** The statement or one of its parameters is wrong. */
        FAILED
    }

    private final Why why;

    ReadingFailed(Why why, String message) {
        super(message);
        this.why = why;
    }

    ReadingFailed(SQLException cause) {
        super("a query of a page failed", cause);
        this.why = why(cause.getSQLState());
    }

    private static Why why(@Nullable String state) {
        if (QUERY_CANCELED.equals(state)) {
            return Why.TOO_SLOW;
        }
        boolean connection =
                state == null
                        || state.startsWith("08")
                        || state.startsWith("53")
                        || state.startsWith("57")
                        || state.startsWith("55");
        return connection ? Why.BUSY : Why.FAILED;
    }

    public Why why() {
        return why;
    }
}
