package io.mintmark.console.pages.keys;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/**
 * A key that wasn't there at a moment of the past.
 *
 * @param since what had deleted or renamed it; none if it had never been there until then
 * @param until what made it after that; none if nothing did
 */
record KeyAbsence(Optional<Boundary> since, Optional<Boundary> until) {

    /** A change of the tenant's by which a key came or went. */
    record Boundary(long revision, Instant at, String by) {}

    /** Beyond this number of changes to a tenant's keys, the history isn't evaluated. */
    private static final int MOST_CHANGES = 5_000;

    /** Comes along the index of changes beside grants, which its condition names. */
    private static final String CHANGES =
            """
            WITH change AS (
                 SELECT c.revision, c.changed_at, c.changed_by, coalesce(c.before ->> 'name' = ?, false) AS was,
                        coalesce(c.after ->> 'name' = ?, false) AS became
                   FROM (SELECT n.revision, n.changed_at, n.changed_by, n.before, n.after
                           FROM audit.config_change AS n
                          WHERE n.tenant = ? AND n.table_name = 'key'
                            AND n.table_name <> 'subject_grant'
                          ORDER BY n.revision LIMIT ?) AS c
            )
            SELECT t.changes, t.of_key, t.was_there,
                   w.revision AS went, w.changed_at AS went_at, w.changed_by AS went_by,
                   c.revision AS came, c.changed_at AS came_at, c.changed_by AS came_by
              FROM (SELECT count(*) AS changes,
                           count(*) FILTER (WHERE h.was OR h.became) AS of_key,
                           (array_agg(h.became ORDER BY h.revision DESC)
                            FILTER (WHERE h.changed_at <= m.at AND (h.was OR h.became)))[1] AS was_there,
                           max(h.revision) FILTER (WHERE h.changed_at <= m.at AND h.was AND NOT h.became)
                               AS went,
                           min(h.revision) FILTER (WHERE h.changed_at > m.at AND h.became AND NOT h.was)
                               AS came
                      FROM (SELECT cast(? AS timestamptz) AS at) AS m LEFT JOIN change AS h ON true
                     GROUP BY m.at) AS t
              LEFT JOIN change AS w ON w.revision = t.went
              LEFT JOIN change AS c ON c.revision = t.came
            """;

    /** Empty if the key existed, or if the evaluated history doesn't contain it. */
    static Optional<KeyAbsence> at(Connection connection, String tenant, String key, Instant at)
            throws SQLException {
        return Query.of(CHANGES, key, key, tenant, MOST_CHANGES + 1, at)
                .first(connection, KeyAbsence::absence)
                .flatMap(found -> found);
    }

    private static Optional<KeyAbsence> absence(ResultSet row) throws SQLException {
        boolean known = row.getLong("changes") <= MOST_CHANGES && row.getLong("of_key") > 0;
        return known && !row.getBoolean("was_there")
                ? Optional.of(
                        new KeyAbsence(
                                boundary(row, "went", "went_at", "went_by"),
                                boundary(row, "came", "came_at", "came_by")))
                : Optional.empty();
    }

    private static Optional<Boundary> boundary(ResultSet row, String revision, String at, String by)
            throws SQLException {
        Optional<Long> number = Query.number(row, revision);
        return number.isPresent()
                ? Optional.of(new Boundary(number.get(), Query.time(row, at), row.getString(by)))
                : Optional.empty();
    }
}
