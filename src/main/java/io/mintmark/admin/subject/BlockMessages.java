package io.mintmark.admin.subject;

import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What PostgreSQL says about a block when it is written. */
final class BlockMessages {
    private static final String NOTICE = "00000";

    private BlockMessages() {}

    /**
     * What the block stops, from a notice, and the warnings of lint. Without the one that {@link
     * BlockedSubjects#unseen} answers.
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
