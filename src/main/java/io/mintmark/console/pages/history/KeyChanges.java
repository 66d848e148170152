package io.mintmark.console.pages.history;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** The latest changes of a key, its grants, its rules, and the requests for it. */
public final class KeyChanges {
    /** The number of the tenant's changes that are read, the newest first. */
    public static final int READ = 1_000;

    private static final String OF_KEY =
            """
            SELECT c.tenant, c.revision, c.changed_at, c.changed_by, c.operation, c.table_name,
                   c.before::text AS before, c.after::text AS after,
                   internal.name_in(c.table_name, coalesce(c.after, c.before)) AS name
              FROM (SELECT n.* FROM audit.config_change AS n
                     WHERE n.tenant = ? ORDER BY n.tenant DESC, n.revision DESC LIMIT ?) AS c
             WHERE CASE WHEN c.table_name = 'key' THEN coalesce(c.after, c.before) ->> 'name' = ?
                        WHEN c.table_name IN ('subject_grant', 'access_rule', 'access_request')
                        THEN coalesce(c.after, c.before) ->> 'key' = ? END
             ORDER BY c.revision DESC LIMIT ?
            """;

    private KeyChanges() {}

    /** The newest first. */
    public static List<Change> of(Connection connection, String tenant, String key, int most)
            throws SQLException {
        return Change.changes(connection, Query.of(OF_KEY, tenant, READ, key, key, most));
    }
}
