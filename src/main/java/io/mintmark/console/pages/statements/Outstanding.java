package io.mintmark.console.pages.statements;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Moment;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Credentials that were handed out and that no statement revokes.
 *
 * @param last when the last of those on record expires, as its provider set it; none if there is
 *     none
 * @param possibly when the last of all may expire; later than {@code last} only where it isn't
 *     known whether a credential exists; none if there is none
 * @param types those of their providers
 * @param among how many were evaluated, if not all
 */
public record Outstanding(
        Optional<Instant> last,
        Optional<Instant> possibly,
        List<String> types,
        Optional<String> among,
        Instant now) {

    /** The note shown with every statement that stops mints: active credentials stay valid. */
    static final String LIVES_ON =
            "This stops new mints. Issued credentials stay valid until they expire, at most "
                    + "for their key's max_duration.";

    private static final int MOST = 1_000;
    private static final String AMONG = "its latest 1,000 mints";

    /**
     * Credentials of a grant that may still be valid, by the same outcomes as
     * audit.active_credential.
     */
    private static final String OF_GRANT =
            """
            SELECT count(*) < ? AS counted_all,
                   max(m.real_end) FILTER (WHERE m.real_end > now()) AS last_ends_at,
                   max(m.may_end) FILTER (WHERE m.may_end > now()) AS may_live_until,
                   array_agg(DISTINCT m.provider_type) FILTER (WHERE m.may_end > now()) AS types
              FROM (SELECT b.provider_type,
                           CASE WHEN d.step IS NULL THEN o.expires_at END AS real_end,
                           CASE WHEN d.step IS NOT NULL THEN NULL
                                WHEN o.kind IS NULL
                                  OR o.kind = 'failed'
                                     AND o.reason IN ('provider_timeout', 'provider_unreachable')
                                THEN b.expires_at ELSE o.expires_at END AS may_end
                      FROM (SELECT e.mint_id, e.provider_type, e.expires_at FROM audit.event AS e
                             WHERE e.grant_id = ? AND e.step = 1
                             ORDER BY e.mint_id DESC LIMIT ?) AS b
                      LEFT JOIN LATERAL (
                           SELECT n.kind, n.reason, n.expires_at FROM audit.event AS n
                            WHERE n.mint_id = b.mint_id AND n.step = 2 OFFSET 0) AS o ON true
                      LEFT JOIN LATERAL (
                           SELECT n.step FROM audit.event AS n
                            WHERE n.mint_id = b.mint_id AND n.step = 3 OFFSET 0) AS d ON true) AS m
            """;

    /** The credentials of the latest mints on a grant. */
    public static Outstanding ofGrant(Connection connection, long grant, Instant now)
            throws SQLException {
        return Query.of(OF_GRANT, MOST, grant, MOST)
                .first(connection, row -> outstanding(row, now))
                .orElseThrow();
    }

    private static Outstanding outstanding(ResultSet row, Instant now) throws SQLException {
        return new Outstanding(
                Query.timeIfAny(row, "last_ends_at"),
                Query.timeIfAny(row, "may_live_until"),
                Query.texts(row, "types"),
                row.getBoolean("counted_all") ? Optional.empty() : Optional.of(AMONG),
                now);
    }

    /** When the credentials expire, in words. A statement doesn't change that. */
    String left(String whose) {
        return "%s %s".formatted(LIVES_ON, until(whose));
    }

    private String until(String whose) {
        String of = whose + among.map(some -> ", looking at %s,".formatted(some)).orElse("");
        if (possibly.isEmpty()) {
            return "No credential of %s is active.".formatted(of);
        }
        Moment end = new Moment(possibly.get(), now);
        return possibly.equals(last)
                ? "The last credential of %s is valid until %s (%s)."
                        .formatted(of, end.clock(), end.distance())
                : ("A credential of %s may be valid until %s (%s); only its provider knows "
                                + "whether it exists.")
                        .formatted(of, end.clock(), end.distance());
    }
}
