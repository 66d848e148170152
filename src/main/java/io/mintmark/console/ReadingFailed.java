package io.mintmark.console;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;

/** A page's questions weren't answered. */
public final class ReadingFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private static final String QUERY_CANCELED = "57014";

    /** The reason that a viewer may see. */
    public enum Why {
        /** Others look too, or the database isn't reachable: it may work in a moment. */
        BUSY,
        /** It took longer than a page may take. */
        TOO_SLOW,
        /** The statement is at fault, or what it was given. */
        FAILED
    }

    private final Why why;

    ReadingFailed(Why why, String message) {
        super(message);
        this.why = why;
    }

    ReadingFailed(SQLException cause) {
        super("a page's statement failed", cause);
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
