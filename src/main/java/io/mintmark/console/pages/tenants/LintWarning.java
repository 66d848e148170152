package io.mintmark.console.pages.tenants;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/** A warning about valid configuration that is probably a mistake. */
record LintWarning(String table, String name, String rule, String advice) {
    /** Selects some warnings of each kind, because 100,000 grants may have one each. */
    private static final String WARNINGS =
            """
            SELECT w.table_name, w.name, w.rule, w.advice
              FROM ((SELECT o.table_name, o.name, o.rule, o.advice
                       FROM broker.lint AS o
                      WHERE o.tenant = ? AND o.table_name <> 'subject_grant'
                        AND (o.table_name <> 'key' OR ?) LIMIT ?)
                    UNION ALL
                    (SELECT g.table_name, g.name, g.rule, g.advice
                       FROM broker.lint AS g
                      WHERE g.tenant = ? AND g.table_name = 'subject_grant' LIMIT ?)) AS w
             ORDER BY w.table_name, w.name
            """;

    /** The first warnings of each kind. */
    static List<LintWarning> of(Connection connection, String tenant, boolean ofKeys, int most)
            throws SQLException {
        return Query.of(WARNINGS, tenant, ofKeys, most, tenant, most)
                .list(connection, LintWarning::of);
    }

    private static LintWarning of(ResultSet row) throws SQLException {
        return new LintWarning(
                row.getString("table_name"),
                row.getString("name"),
                row.getString("rule"),
                row.getString("advice"));
    }
}
