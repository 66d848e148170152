package io.mintmark.console.pages.lint;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Links;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A warning about valid configuration that is probably a mistake.
 *
 * @param tenant none: of a row that belongs to no tenant
 * @param changedAt when the row was last changed; none if the row is gone. The warning may be
 *     younger, because a change of another row can cause it
 * @param changedBy the login that changed it
 */
public record LintWarning(
        Optional<String> tenant,
        String table,
        String name,
        String rule,
        String advice,
        Optional<Instant> changedAt,
        Optional<String> changedBy) {
    private static final int MOST_SHARED = 20;

    /** Looks up the row of each warning by the key of its table; ids are sorted as numbers. */
    private static final String WITH_ROW =
            """
            SELECT w.tenant, w.table_name, w.name, w.rule, w.advice, r.updated_at, r.updated_by
              FROM (%s) AS w
              LEFT JOIN LATERAL (
                   SELECT t.updated_at, t.updated_by FROM broker.tenant AS t
                    WHERE w.table_name = 'tenant' AND t.name = w.name
                   UNION ALL
                   SELECT a.updated_at, a.updated_by FROM broker.tenant_admin AS a
                    WHERE w.table_name = 'tenant_admin' AND a.tenant = w.tenant AND a.role_name = w.name
                   UNION ALL
                   SELECT s.updated_at, s.updated_by FROM broker.shared_issuer AS s
                    WHERE w.table_name = 'shared_issuer' AND s.issuer = w.name
                   UNION ALL
                   SELECT p.updated_at, p.updated_by FROM broker.identity_provider AS p
                    WHERE w.table_name = 'identity_provider' AND p.tenant = w.tenant AND p.name = w.name
                   UNION ALL
                   SELECT p.updated_at, p.updated_by FROM broker.access_provider AS p
                    WHERE w.table_name = 'access_provider' AND p.tenant = w.tenant AND p.name = w.name
                   UNION ALL
                   SELECT k.updated_at, k.updated_by FROM broker.key AS k
                    WHERE w.table_name = 'key' AND k.tenant = w.tenant AND k.name = w.name
                   UNION ALL
                   SELECT g.updated_at, g.updated_by FROM broker.subject_grant AS g
                    WHERE w.table_name = 'subject_grant' AND g.id = w.id
                   UNION ALL
                   SELECT b.updated_at, b.updated_by FROM broker.blocked_subject AS b
                    WHERE w.table_name = 'blocked_subject' AND b.id = w.id
                   UNION ALL
                   SELECT c.updated_at, c.updated_by FROM broker.console_access AS c
                    WHERE w.table_name = 'console_access' AND c.id = w.id
                   UNION ALL
                   SELECT a.updated_at, a.updated_by FROM broker.access_rule AS a
                    WHERE w.table_name = 'access_rule' AND a.id = w.id
                   UNION ALL
                   SELECT a.updated_at, a.updated_by FROM broker.access_approver AS a
                    WHERE w.table_name = 'access_approver' AND a.id = w.id) AS r ON true
             ORDER BY w.table_name, w.id, w.name, w.rule
            """;

    private static final String COLUMNS =
            """
            l.tenant COLLATE "C" AS tenant, l.table_name, l.name COLLATE "C" AS name, l.rule, l.advice,
            CASE WHEN l.name ~ '^[0-9]{1,18}$' THEN l.name::bigint END AS id
            """;

    /** Selects some warnings of each kind, because 100,000 grants may have one each. */
    private static final String OF_TENANT =
            WITH_ROW.formatted(
                    """
                    (SELECT %1$s FROM broker.lint AS l
                      WHERE l.tenant = ? AND l.table_name <> 'subject_grant'
                        AND (l.table_name <> 'key' OR ?) LIMIT ?)
                    UNION ALL
                    (SELECT %1$s FROM broker.lint AS l
                      WHERE l.tenant = ? AND l.table_name = 'subject_grant' LIMIT ?)
                    """
                            .formatted(COLUMNS));

    private static final String SHARED =
            WITH_ROW.formatted(
                    "SELECT %s FROM broker.lint AS l WHERE l.tenant IS NULL ORDER BY l.table_name, l.name LIMIT ?"
                            .formatted(COLUMNS));

    /** The first warnings of each kind about rows of a tenant. */
    public static List<LintWarning> of(
            Connection connection, String tenant, boolean ofKeys, int most) throws SQLException {
        return Query.of(OF_TENANT, tenant, ofKeys, most, tenant, most)
                .list(connection, LintWarning::of);
    }

    /** The first warnings about rows of no tenant that the viewer may see. */
    public static List<LintWarning> shared(Connection connection) throws SQLException {
        return Query.of(SHARED, MOST_SHARED).list(connection, LintWarning::of);
    }

    private static LintWarning of(ResultSet row) throws SQLException {
        return new LintWarning(
                Query.text(row, "tenant"),
                row.getString("table_name"),
                row.getString("name"),
                row.getString("rule"),
                row.getString("advice"),
                Query.timeIfAny(row, "updated_at"),
                Query.text(row, "updated_by"));
    }

    /** The history of the row. */
    public String address() {
        return Links.history(tenant, table, name);
    }
}
