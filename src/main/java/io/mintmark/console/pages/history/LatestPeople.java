package io.mintmark.console.pages.history;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * A login that changed the configuration lately.
 *
 * @param changes how many of the changes read are this login's
 */
public record LatestPeople(String login, long changes) {
    private static final int READ = 500;
    private static final int SHOWN = 8;

    private static final String LATELY =
            """
            SELECT c.changed_by, count(*) AS changes
              FROM internal.changes_by(NULL, now() - interval '90 days', 'infinity', ?) AS c
             GROUP BY c.changed_by ORDER BY max(c.changed_at) DESC, c.changed_by LIMIT ?
            """;

    /** The logins whose changes the viewer may see, the one that changed something last first. */
    public static List<LatestPeople> of(Connection connection) throws SQLException {
        return Query.of(LATELY, READ, SHOWN)
                .list(
                        connection,
                        row ->
                                new LatestPeople(
                                        row.getString("changed_by"), row.getLong("changes")));
    }
}
