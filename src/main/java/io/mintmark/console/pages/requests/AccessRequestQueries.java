package io.mintmark.console.pages.requests;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Reads requests for access: by who may decide or end them, by state, and by key. */
final class AccessRequestQueries {
    private static final String LINES =
            """
            SELECT q.id, q.tenant, q.key, q.idp, q.subject, q.actor, q.actor_idp, q.reason, q.access, q.break_glass, q.status,
                   q.requested_at, q.expires_at, q.approvals * cardinality(q.steps) AS approvals, cardinality(q.steps) AS steps, content.lacking, q.consent, decided.approvals AS given, decided.words, q.grant_id,
                   g.valid_until, coalesce(g.enabled AND g.valid_until > now(), false) AS in_force,
                   NOT (q.break_glass AND q.signed_off_by IS NULL) AS signed_off,
                   q.id = ANY (viewer.asked) AS mine, q.id = ANY (viewer.waiting) AS waits,
                   coalesce(g.enabled AND g.valid_until > now(), false) AND internal.viewer_may_withdraw(q.id) AS withdraws, COLUMNS
              FROM (SELECT ARRAY(SELECT internal.waiting_for_viewer(1001)) AS waiting,
                           ARRAY(SELECT internal.asked_by_viewer(50)) AS asked) AS viewer
             CROSS JOIN LATERAL (%s) AS q
              LEFT JOIN broker.subject_grant AS g ON g.id = q.grant_id
              LEFT JOIN broker.access_request AS p ON p.id = q.id AND p.status = 'pending'
             CROSS JOIN LATERAL (
                   SELECT CASE WHEN p.id IS NOT NULL THEN internal.what_it_gives(p) END AS gives, CASE WHEN p.id IS NOT NULL THEN internal.lacking_approvals(p) END AS lacking,
                          CASE WHEN p.id IS NOT NULL THEN cast(internal.revisions_of(p) AS text) END AS revisions
                   OFFSET 0) AS content
             CROSS JOIN LATERAL (
                   SELECT count(*) FILTER (WHERE d.verdict = 'approve') AS approvals,
                          coalesce(array_agg(coalesce(d.decided_by, d.subject) || CASE WHEN d.program THEN ' (program)' ELSE '' END
                                             || CASE d.verdict WHEN 'approve' THEN ' approved' WHEN 'refuse' THEN ' refused' ELSE ' withdrew the access' END
                                             || coalesce(': ' || d.note, '') ORDER BY d.id), '{}') AS words
                     FROM broker.access_decision AS d WHERE d.request = q.id) AS decided
             ORDER BY q.requested_at %s, q.id
            """
                    .replace("COLUMNS", RequestedKey.COLUMNS);

    private static final String WAITING =
            LINES.formatted(
                    """
                    SELECT r.* FROM broker.access_request AS r
                     WHERE r.id = ANY (viewer.waiting) ORDER BY r.expires_at, r.id LIMIT ?
                    """,
                    "");
    private static final String ASKED =
            LINES.formatted(
                    """
                    SELECT r.* FROM broker.access_request AS r
                     WHERE r.id = ANY (viewer.asked) AND r.id <> ALL (viewer.waiting)
                    """,
                    "DESC");
    private static final String PENDING =
            LINES.formatted(
                    """
                    SELECT r.* FROM broker.access_request AS r
                     WHERE r.status = 'pending' AND r.expires_at > now()
                     ORDER BY r.expires_at LIMIT ?
                    """,
                    "");

    /** Tenant by tenant, since the index in the order of time has the tenant first. */
    private static final String DECIDED =
            LINES.formatted(
                    """
                    SELECT r.* FROM broker.tenant AS t
                     CROSS JOIN LATERAL (
                           SELECT d.* FROM broker.access_request AS d
                            WHERE d.tenant = t.name AND d.status <> 'pending' AND NOT d.break_glass
                              AND (cast(? AS uuid) IS NULL OR (d.requested_at, d.id) <
                                   (SELECT b.requested_at, b.id FROM broker.access_request AS b WHERE b.id = cast(? AS uuid)))
                            ORDER BY d.tenant DESC, d.requested_at DESC, d.id DESC LIMIT ?) AS r
                     ORDER BY r.requested_at DESC, r.id DESC LIMIT ?
                    """,
                    "DESC");

    private static final String WITHDRAWABLE =
            LINES.formatted(
                    "SELECT r.* FROM broker.access_request AS r WHERE r.id IN (SELECT internal.withdrawable_by_viewer())",
                    "");

    private static final String BREAK_GLASSES =
            LINES.formatted(
                            """
                            SELECT r.* FROM broker.tenant AS t
                             CROSS JOIN LATERAL (
                                   (SELECT d.* FROM broker.access_request AS d
                                     WHERE d.tenant = t.name AND d.break_glass AND d.signed_off_by IS NULL
                                     ORDER BY d.requested_at LIMIT ?)
                                    UNION
                                   (SELECT d.* FROM broker.access_request AS d
                                     WHERE d.tenant = t.name AND d.break_glass
                                     ORDER BY d.tenant DESC, d.requested_at DESC LIMIT ?)) AS r
                             ORDER BY r.signed_off_by IS NULL DESC, r.requested_at DESC LIMIT ?
                            """,
                            "DESC")
                    .replace(
                            "ORDER BY q.requested_at",
                            "ORDER BY q.signed_off_by IS NULL DESC, q.requested_at");
    private static final String ONE =
            LINES.formatted(
                    "SELECT r.* FROM broker.access_request AS r WHERE r.id = cast(? AS uuid)", "");
    private static final String OF_KEY =
            LINES.formatted(
                    """
                    SELECT r.* FROM (SELECT n.* FROM broker.access_request AS n WHERE n.tenant = ?
                                      ORDER BY n.tenant DESC, n.requested_at DESC LIMIT 5000) AS r
                     WHERE cast(? AS text) IS NULL OR r.key = ?
                     ORDER BY r.requested_at DESC LIMIT ?
                    """,
                    "DESC");

    private AccessRequestQueries() {}

    /** The requests that the viewer may decide, the oldest first. */
    static List<AccessRequestLine> waiting(Connection connection, int most) throws SQLException {
        return Query.of(WAITING, most).list(connection, AccessRequestLine::of);
    }

    /** The requests that the viewer made, the newest first. */
    static List<AccessRequestLine> asked(Connection connection) throws SQLException {
        return Query.of(ASKED).list(connection, AccessRequestLine::of);
    }

    /** All pending requests, the oldest first. */
    static List<AccessRequestLine> pending(Connection connection, int most) throws SQLException {
        return Query.of(PENDING, most).list(connection, AccessRequestLine::of);
    }

    /** The requests that were decided or have ended, the newest first, after the given one. */
    static List<AccessRequestLine> decided(Connection connection, Optional<UUID> before, int most)
            throws SQLException {
        String id = before.map(UUID::toString).orElse(null);
        return Query.of(DECIDED, id, id, most, most).list(connection, AccessRequestLine::of);
    }

    /** The requests whose access the viewer may withdraw as an approver, the oldest first. */
    static List<AccessRequestLine> withdrawable(Connection connection) throws SQLException {
        return Query.of(WITHDRAWABLE).list(connection, AccessRequestLine::of);
    }

    /**
     * The uses of break glass without a sign-off, then all others; in each group, the newest first.
     */
    static List<AccessRequestLine> breakGlasses(Connection connection, int most)
            throws SQLException {
        return Query.of(BREAK_GLASSES, most, most, most).list(connection, AccessRequestLine::of);
    }

    static Optional<AccessRequestLine> one(Connection connection, Object id) throws SQLException {
        return Query.of(ONE, id.toString()).first(connection, AccessRequestLine::of);
    }

    /** The requests of a tenant, or of one of its keys, the newest first. */
    static List<AccessRequestLine> of(
            Connection connection, String tenant, Optional<String> key, int most)
            throws SQLException {
        String name = key.orElse(null);
        return Query.of(OF_KEY, tenant, name, name, most).list(connection, AccessRequestLine::of);
    }
}
