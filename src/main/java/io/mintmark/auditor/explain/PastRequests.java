package io.mintmark.auditor.explain;

import io.mintmark.base.sql.Query;

import java.sql.ResultSet;
import java.sql.SQLException;

/** A request as the audit log recorded it, with the changes since. */
final class PastRequests {
    /** Denials have no revision of their own: the last change before them is theirs. */
    private static final String PAST =
            """
            SELECT DISTINCT ON (e.mint_id) e.mint_id, e.key, e.kind, e.reason, e.detail, e.tenant,
                   e.idp, e.subject, e.claims, e.actor_idp, e.actor, e.actor_claims, e.occurred_at, host(e.client_address) AS client_address, e.grant_id, decided.revision,
                   (SELECT c.after
                      FROM audit.config_change AS c
                     WHERE c.table_name = 'subject_grant' AND c.tenant = e.tenant
                       AND coalesce(c.after, c.before) ->> 'id' = cast(e.grant_id AS text)
                       AND c.revision <= e.grant_revision
                     ORDER BY c.revision DESC LIMIT 1) AS grant_then
              FROM audit.event AS e
             CROSS JOIN LATERAL (
                   SELECT coalesce(e.grant_revision, max(c.revision)) AS revision
                     FROM audit.config_change AS c
                    WHERE c.tenant = e.tenant AND e.grant_revision IS NULL
                      AND c.changed_at <= e.occurred_at) AS decided
             WHERE e.request_id = ?
             ORDER BY e.mint_id, e.step DESC
            """;

    private static final String CHANGES =
            """
            SELECT c.revision, c.changed_at, c.changed_by, c.operation, c.table_name,
                   internal.name_in(c.table_name, coalesce(c.after, c.before)) AS name,
                   count(*) OVER () AS total
              FROM audit.config_change AS c
             WHERE c.tenant = ? AND c.revision > ? ORDER BY c.revision DESC LIMIT ?
            """;

    private PastRequests() {}

    static Query past(String requestId) {
        return Query.of(PAST, requestId);
    }

    static Query changes(String tenant, long since, int atMost) {
        return Query.of(CHANGES, tenant, since, atMost);
    }

    static Past past(ResultSet row) throws SQLException {
        return new Past(
                Query.text(row, "key"),
                row.getString("kind"),
                Query.text(row, "reason"),
                Query.text(row, "detail"),
                Query.text(row, "tenant"),
                Query.text(row, "idp"),
                Query.text(row, "subject"),
                Query.text(row, "claims"),
                Explanations.Actor.of(row),
                Query.time(row, "occurred_at"),
                Query.text(row, "client_address"),
                Query.number(row, "grant_id"),
                Query.number(row, "revision"),
                Query.text(row, "grant_then"));
    }

    static Past.Change change(ResultSet row) throws SQLException {
        return new Past.Change(
                row.getLong("revision"),
                Query.time(row, "changed_at"),
                row.getString("changed_by"),
                row.getString("operation"),
                row.getString("table_name"),
                Query.text(row, "name").orElse(""),
                row.getLong("total"));
    }
}
