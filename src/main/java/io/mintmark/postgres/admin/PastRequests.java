package io.mintmark.postgres.admin;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What the audit log recorded of a request, and what was changed since. */
final class PastRequests {
    /** Denials have no revision of their own: the last change before them is theirs. */
    private static final String PAST =
            """
            SELECT DISTINCT ON (e.mint_id) e.mint_id, e.key, e.kind, e.reason, e.detail, e.tenant,
                   e.idp, e.subject, e.claims, e.occurred_at, e.grant_id, decided.revision,
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

    private final Connection connection;

    PastRequests(Connection connection) {
        this.connection = connection;
    }

    List<Past> past(String requestId) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PAST)) {
            statement.setString(1, requestId);
            List<Past> past = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    past.add(past(rows));
                }
            }
            return past;
        }
    }

    List<Past.Change> changes(String tenant, long since, int atMost) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(CHANGES)) {
            statement.setString(1, tenant);
            statement.setLong(2, since);
            statement.setInt(3, atMost);
            List<Past.Change> changes = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    changes.add(change(rows));
                }
            }
            return changes;
        }
    }

    private static Past past(ResultSet row) throws SQLException {
        return new Past(
                text(row, "key"),
                row.getString("kind"),
                text(row, "reason"),
                text(row, "detail"),
                text(row, "tenant"),
                text(row, "idp"),
                text(row, "subject"),
                text(row, "claims"),
                at(row, "occurred_at"),
                Optional.ofNullable(row.getObject("grant_id", Long.class)),
                Optional.ofNullable(row.getObject("revision", Long.class)),
                text(row, "grant_then"));
    }

    private static Past.Change change(ResultSet row) throws SQLException {
        return new Past.Change(
                row.getLong("revision"),
                at(row, "changed_at"),
                row.getString("changed_by"),
                row.getString("operation"),
                row.getString("table_name"),
                text(row, "name").orElse(""),
                row.getLong("total"));
    }

    private static Instant at(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    private static Optional<String> text(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getString(column));
    }
}
