package io.mintmark.console.pages.overview;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Links;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** A lint warning about a row that belongs to no tenant. */
record SharedWarning(String table, String name, String rule, String advice) {
    private static final int MOST = 20;

    private static final String OF_NO_TENANT =
            """
            SELECT l.table_name, l.name, l.rule, l.advice FROM broker.lint AS l
             WHERE l.tenant IS NULL ORDER BY l.table_name, l.name LIMIT ?
            """;

    /** The first warnings that the viewer may see. */
    static List<SharedWarning> all(Connection connection) throws SQLException {
        return Query.of(OF_NO_TENANT, MOST)
                .list(
                        connection,
                        row ->
                                new SharedWarning(
                                        row.getString("table_name"),
                                        row.getString("name"),
                                        row.getString("rule"),
                                        row.getString("advice")));
    }

    /** The history of the row. */
    String address() {
        return Links.history(Optional.empty(), table, name);
    }
}
