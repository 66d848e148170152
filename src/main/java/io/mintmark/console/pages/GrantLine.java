package io.mintmark.console.pages;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A grant in force, in a line.
 *
 * @param claims what the token must hold besides; empty if nothing
 * @param seconds how long a credential may live
 * @param uncertain whether the change that says so may have been committed later than it is asked
 *     for
 */
record GrantLine(
        String tenant,
        String key,
        String idp,
        String match,
        String subject,
        Optional<String> claims,
        long seconds,
        Optional<Instant> validUntil,
        long grantId,
        Optional<String> reason,
        String grantedBy,
        Instant grantedAt,
        boolean uncertain) {

    private static final String OF_KEY_NOW =
            """
            SELECT w.tenant, w.key, w.idp, w.match, w.subject, w.claims::text AS claims,
                   w.max_duration, w.valid_until, w.grant_id, w.reason, w.granted_by, w.granted_at,
                   false AS uncertain
              FROM broker.who_can_mint AS w
             WHERE w.tenant = ? AND w.key = ?
             ORDER BY w.subject, w.grant_id LIMIT ?
            """;

    private static final String OF_KEY_THEN =
            """
            SELECT cast(? AS text) AS tenant, cast(? AS text) AS key, w.idp, w.match, w.subject,
                   w.claims::text AS claims, w.max_duration, w.valid_until, w.grant_id, w.reason,
                   w.granted_by, w.granted_at, w.uncertain
              FROM internal.who_could(?, ?, cast(? AS timestamptz)) AS w
             ORDER BY w.subject, w.grant_id LIMIT ?
            """;

    private static final String OF_SUBJECT =
            """
            WITH w AS MATERIALIZED (
                 SELECT w.tenant, w.key, w.idp, w.match, w.subject, w.claims::text AS claims,
                        w.max_duration, w.valid_until, w.grant_id, w.reason, w.granted_by,
                        w.granted_at, false AS uncertain
                   FROM internal.grants_for(?, ?) AS found (id)
                   JOIN broker.who_can_mint AS w ON w.grant_id = found.id)
            SELECT w.*
              FROM w
              JOIN (SELECT d.tenant, d.idp, internal.blocking(d.tenant, d.idp, ?, now()) AS blocking
                      FROM (SELECT DISTINCT w.tenant, w.idp FROM w) AS d) AS b
                ON b.tenant = w.tenant AND b.idp = w.idp AND b.blocking IS NULL
             ORDER BY w.tenant, w.key, w.grant_id
            """;

    /** Who may mint a key now, of those that the viewer may see. */
    static List<GrantLine> ofKey(Connection connection, String tenant, String key, int most)
            throws SQLException {
        return Query.of(OF_KEY_NOW, tenant, key, most).list(connection, GrantLine::line);
    }

    /** Who could at a moment of the past. */
    static List<GrantLine> ofKeyAt(
            Connection connection, String tenant, String key, Instant at, int most)
            throws SQLException {
        return Query.of(OF_KEY_THEN, tenant, key, tenant, key, at, most)
                .list(connection, GrantLine::line);
    }

    /** What a subject may mint now, wherever its token comes from and nothing blocks it. */
    static List<GrantLine> ofSubject(Connection connection, String subject, int most)
            throws SQLException {
        return Query.of(OF_SUBJECT, subject, most, subject).list(connection, GrantLine::line);
    }

    private static GrantLine line(ResultSet row) throws SQLException {
        return new GrantLine(
                row.getString("tenant"),
                row.getString("key"),
                row.getString("idp"),
                row.getString("match"),
                row.getString("subject"),
                Query.text(row, "claims").filter(claims -> !claims.equals("{}")),
                row.getLong("max_duration"),
                Query.timeIfAny(row, "valid_until"),
                row.getLong("grant_id"),
                Query.text(row, "reason"),
                row.getString("granted_by"),
                Query.time(row, "granted_at"),
                row.getBoolean("uncertain"));
    }
}
