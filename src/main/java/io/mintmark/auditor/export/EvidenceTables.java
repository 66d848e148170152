package io.mintmark.auditor.export;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.log.AuditConnection;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;

import org.jspecify.annotations.Nullable;

import java.sql.PreparedStatement;
import java.sql.ResultSetMetaData;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The tables beside the log that evidence consists of, a row at a time. */
public final class EvidenceTables implements AutoCloseable {
    private final AuditConnection connection;

    /** A table for a tenant, or for all if it is null, at or up to a time, or between two. */
    public enum Table {
        CHANGES(
                """
                SELECT c.* FROM audit.config_change AS c
                 WHERE (w.tenant IS NULL OR c.tenant = w.tenant) AND c.changed_at < w.at
                 ORDER BY c.tenant, c.revision
                """),
        GRANT_REVIEW(
                """
                SELECT r.* FROM audit.grant_review AS r
                 WHERE w.tenant IS NULL OR r.tenant = w.tenant
                 ORDER BY r.tenant, r.grant_id
                """),
        ACCESS_REQUEST(
                """
                SELECT q.* FROM audit.access_request AS q
                 WHERE (w.tenant IS NULL OR q.tenant = w.tenant) AND q.requested_at >= w.since AND q.requested_at < w.at
                 ORDER BY q.tenant, q.requested_at, q.request
                """),
        ROLE_MEMBER(
                """
                SELECT m.* FROM audit.role_member AS m ORDER BY m.role_name, m.member, m.via
                """),
        WHO_COULD_MINT(
                """
                SELECT t.tenant, c.*
                  FROM (SELECT DISTINCT h.tenant
                          FROM audit.config_change AS h
                         WHERE h.table_name = 'key'
                           AND (w.tenant IS NULL OR h.tenant = w.tenant)) AS t
                 CROSS JOIN LATERAL internal.who_could_mint_any(t.tenant, NULL, w.at) AS c
                 ORDER BY t.tenant, c.key, c.subject, c.grant_id
                """),
        /**
         * Each state of each grant that was enabled and in force at any time between the two. A
         * block, or a disabled row above the grant, may have kept its subject from minting.
         */
        GRANTS_WITHIN(
                """
                SELECT g.tenant, g.row ->> 'key' AS key, g.row ->> 'subject' AS subject, g.row ->> 'match' AS match,
                       g.row ->> 'idp' AS idp, g.row ->> 'claims' AS claims, g.id AS grant_id,
                       g.row ->> 'max_duration' AS max_duration,
                       greatest(g.began, cast(g.row ->> 'valid_from' AS timestamptz), w.since) AS "from",
                       least(g.ended, cast(g.row ->> 'valid_until' AS timestamptz), w.at) AS "to",
                       g.row ->> 'created_by' AS granted_by, g.began AS in_this_form_since, g.changed_by AS changed_by,
                       g.row ->> 'reason' AS reason, g.row ->> 'request_id' AS access_request,
                       g.row ->> 'approved_by' AS approved_by
                  FROM (SELECT c.tenant, cast(coalesce(c.after, c.before) ->> 'id' AS bigint) AS id, c.after AS row,
                               c.changed_by, c.changed_at AS began,
                               lead(c.changed_at) OVER (PARTITION BY c.tenant, coalesce(c.after, c.before) ->> 'id'
                                                        ORDER BY c.revision) AS ended
                          FROM audit.config_change AS c
                         WHERE c.table_name = 'subject_grant' AND c.changed_at < w.at
                           AND (w.tenant IS NULL OR c.tenant = w.tenant)) AS g
                 WHERE cast(g.row ->> 'enabled' AS boolean)
                   AND greatest(g.began, cast(g.row ->> 'valid_from' AS timestamptz), w.since)
                       < least(g.ended, cast(g.row ->> 'valid_until' AS timestamptz), w.at)
                 ORDER BY g.tenant, g.row ->> 'key', g.row ->> 'subject', g.id, g.began
                """);

        private final String sql;

        Table(String rows) {
            this.sql =
                    """
                    SELECT %s
                      FROM (SELECT cast(? AS text) AS tenant, cast(? AS timestamptz) AS since,
                                   cast(? AS timestamptz) AS at) AS w
                     CROSS JOIN LATERAL (%s) AS x
                    """
                            .formatted("%s", rows);
        }
    }

    /**
     * Opens a connection of its own.
     *
     * @throws StoreUnreachable if there is no connection
     */
    public EvidenceTables(DatabaseLogin login) {
        this.connection = new AuditConnection(login, "");
    }

    public List<String> columns(Table table) {
        List<String> columns = new ArrayList<>();
        connection.use(it -> {
            try (PreparedStatement statement = it.prepareStatement(table.sql.formatted("x.*"))) {
                ResultSetMetaData described = statement.getMetaData();
                for (int i = 1; i <= described.getColumnCount(); i++) {
                    columns.add(described.getColumnName(i));
                }
            }
        });
        return columns;
    }

    /** Each row as a JSON object. */
    public void rows(
            Table table, @Nullable String tenant, String since, String at, Consumer<String> each) {
        connection.each(
                Query.of(table.sql.formatted("to_jsonb(x)::text"), tenant, since, at),
                row -> each.accept(row.getString(1)));
    }

    @Override
    public void close() {
        connection.close();
    }
}
