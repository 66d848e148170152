package io.mintmark.base.sql;

import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

import java.sql.SQLException;

/** A question that PostgreSQL didn't answer; the message is its own, in one line. */
public final class QuestionFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private QuestionFailed(String message, SQLException cause) {
        super(message, cause);
    }

    public static QuestionFailed because(String message, SQLException cause) {
        return new QuestionFailed(message, cause);
    }

    public static QuestionFailed because(SQLException cause) {
        return new QuestionFailed(words(cause), cause);
    }

    private static String words(SQLException cause) {
        ServerErrorMessage said =
                cause instanceof PSQLException refusal ? refusal.getServerErrorMessage() : null;
        if (said == null) {
            return String.valueOf(cause.getMessage());
        }
        String hint = said.getHint();
        return said.getMessage() + (hint == null || hint.isBlank() ? "" : " " + hint);
    }
}
