package io.mintmark.admin.subject;

import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** The messages that PostgreSQL prints when a block is written. */
final class BlockMessages {
    private static final String NOTICE = "00000";

    private BlockMessages() {}

    /**
     * Returns the notice that says what the block stops, and the warnings of lint, except the one
     * that {@link BlockedSubjects#unseen} answers.
     */
    static List<String> of(Statement statement) throws SQLException {
        List<String> messages = new ArrayList<>();
        for (SQLWarning each = statement.getWarnings();
                each != null;
                each = each.getNextWarning()) {
            String message = String.valueOf(each.getMessage());
            if (NOTICE.equals(each.getSQLState())) {
                messages.add(message);
            } else if (!message.endsWith(" [" + BlockedSubjects.MATCHES_NOTHING + "]")) {
                messages.add("Warning: " + message);
            }
        }
        return messages;
    }
}
