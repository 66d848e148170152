package io.mintmark.console.pages.grants;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.GrantActor;
import io.mintmark.console.pages.frame.NaturalOrder;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A grant in force, in a line.
 *
 * @param actor who must ask on the subject's behalf; none: the subject itself
 * @param claims the claims that it requires; empty if none
 * @param seconds the maximum lifetime of a credential
 * @param uncertain whether the change that created it may have been committed after the requested
 *     time
 */
public record GrantLine(
        String tenant,
        String key,
        String idp,
        String match,
        String subject,
        Optional<GrantActor> actor,
        Optional<String> claims,
        long seconds,
        Optional<Instant> validUntil,
        long grantId,
        Optional<String> reason,
        String grantedBy,
        Instant grantedAt,
        boolean uncertain) {

    /** Selects some grants of a key without order, because ordering would read all of them. */
    private static final String IDS_OF_KEY =
            """
            SELECT g.id
              FROM broker.subject_grant AS g
             WHERE g.tenant = ? AND g.key = ? AND g.enabled
               AND (g.valid_from IS NULL OR g.valid_from <= now())
               AND (g.valid_until IS NULL OR g.valid_until > now())
               AND strpos(g.subject, ?) > 0
             LIMIT ?
            """;

    private static final String OF_KEY_NOW =
            """
            SELECT w.tenant, w.key, w.idp, w.match, w.subject, w.actor_idp, w.actor_match, w.actor,
                   w.claims::text AS claims, w.max_duration, w.valid_until, w.grant_id, w.reason, w.granted_by, w.granted_at,
                   false AS uncertain
              FROM broker.who_can_mint AS w
             WHERE w.tenant = ? AND w.key = ? AND w.grant_id = ANY (cast(? AS bigint[]))
            """;

    private static final String CHANGES_OF_KEY = "SELECT internal.grant_changes_of_key(?, ?, ?)";

    private static final String OF_KEY_THEN =
            """
            SELECT cast(? AS text) AS tenant, cast(? AS text) AS key, w.idp, w.match, w.subject,
                   w.actor_idp, w.actor_match, w.actor, w.claims::text AS claims, w.max_duration,
                   w.valid_until, w.grant_id, w.reason, w.granted_by, w.granted_at, w.uncertain
              FROM internal.who_could(?, ?, cast(? AS timestamptz)) AS w
            """;

    /**
     * Each OFFSET keeps a look-up one: of a grant at a time, whatever the statistics say of the
     * tables, and of blocks once for each identity provider.
     */
    private static final String OF_SUBJECT =
            """
            WITH w AS MATERIALIZED (
                 SELECT w.tenant, w.key, w.idp, w.match, w.subject, w.actor_idp, w.actor_match, w.actor,
                        w.claims::text AS claims, w.max_duration, w.valid_until, w.grant_id, w.reason, w.granted_by,
                        w.granted_at, false AS uncertain
                   FROM internal.grants_for(?, ?) AS f (id)
                  CROSS JOIN LATERAL (SELECT n.* FROM broker.who_can_mint AS n WHERE n.grant_id = f.id OFFSET 0) AS w)
            SELECT w.*
              FROM w
              JOIN (SELECT d.tenant, d.idp, internal.blocking(d.tenant, d.idp, ?, now()) AS blocking
                      FROM (SELECT DISTINCT w.tenant, w.idp FROM w OFFSET 0) AS d) AS b
                ON b.tenant = w.tenant AND b.idp = w.idp AND b.blocking IS NULL
            """;

    private static final Comparator<GrantLine> BY_SUBJECT =
            Comparator.comparing(GrantLine::subject, NaturalOrder.NAMES)
                    .thenComparingLong(GrantLine::grantId);

    private static final Comparator<GrantLine> BY_KEY =
            Comparator.comparing(GrantLine::tenant, NaturalOrder.NAMES)
                    .thenComparing(GrantLine::key, NaturalOrder.NAMES)
                    .thenComparingLong(GrantLine::grantId);

    /**
     * The grants of a key, by subject.
     *
     * @param all whether these are all grants of the key; if not, they are some of them, or none
     */
    public record OfKey(List<GrantLine> lines, boolean all) {}

    /**
     * The grants of a key that are valid now and visible to the viewer.
     *
     * @param with text in their subjects; empty for all
     */
    public static OfKey ofKey(
            Connection connection, String tenant, String key, String with, int most)
            throws SQLException {
        List<String> ids =
                Query.of(IDS_OF_KEY, tenant, key, with, most + 1)
                        .list(connection, row -> row.getString(1));
        boolean all = ids.size() <= most;
        List<String> shown = all ? ids : ids.subList(0, most);
        return new OfKey(
                sorted(Query.of(OF_KEY_NOW, tenant, key, shown).list(connection, GrantLine::line)),
                all);
    }

    /**
     * The grants by which the key could be minted at a past time.
     *
     * @param most the maximum number of grants that the key ever had; with more, none is evaluated
     */
    public static OfKey ofKeyAt(
            Connection connection, String tenant, String key, Instant at, int most)
            throws SQLException {
        long changes =
                Query.of(CHANGES_OF_KEY, tenant, key, most + 1)
                        .first(connection, row -> row.getLong(1))
                        .orElseThrow();
        return changes > most
                ? new OfKey(List.of(), false)
                : new OfKey(
                        sorted(
                                Query.of(OF_KEY_THEN, tenant, key, tenant, key, at)
                                        .list(connection, GrantLine::line)),
                        true);
    }

    /**
     * The grants that match a subject now, from any identity provider, without regard to blocks.
     */
    public static List<GrantLine> ofSubject(Connection connection, String subject, int most)
            throws SQLException {
        return Query.of(OF_SUBJECT, subject, most, subject)
                .list(connection, GrantLine::line)
                .stream()
                .sorted(BY_KEY)
                .toList();
    }

    private static List<GrantLine> sorted(List<GrantLine> ofKey) {
        return ofKey.stream().sorted(BY_SUBJECT).toList();
    }

    private static GrantLine line(ResultSet row) throws SQLException {
        return new GrantLine(
                row.getString("tenant"),
                row.getString("key"),
                row.getString("idp"),
                row.getString("match"),
                row.getString("subject"),
                GrantActor.of(row),
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
