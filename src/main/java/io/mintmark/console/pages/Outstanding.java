package io.mintmark.console.pages;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/**
 * Credentials that are out already, which no statement takes back.
 *
 * @param last until when the last of those that were looked at may live; none if none does
 * @param among which were looked at, if those aren't all
 */
record Outstanding(Optional<Instant> last, Optional<String> among, Instant now) {

    /** Said of whatever stops mints. */
    static final String LIVES_ON =
            "This stops mints, and ends no credential that is out already: each lives on until it"
                    + " expires, at most for its key's max_duration from its mint. What ends one"
                    + " sooner at its provider: docs/admin.md, “Blocked subjects”.";

    private static final int MOST = 1_000;
    private static final String AMONG = "its latest 1,000 mints";

    /** What was requested says the latest that a credential of it could live. */
    private static final String OF_GRANT =
            """
            SELECT count(*) < ? AS counted_all, max(m.expires_at) AS last_ends_at
              FROM (SELECT e.expires_at FROM audit.event AS e
                     WHERE e.grant_id = ? AND e.step = 1
                     ORDER BY e.mint_id DESC LIMIT ?) AS m
            """;

    static Outstanding ofGrant(Connection connection, long grant, Instant now) throws SQLException {
        return Query.of(OF_GRANT, MOST, grant, MOST)
                .first(
                        connection,
                        row ->
                                new Outstanding(
                                        Query.timeIfAny(row, "last_ends_at"),
                                        row.getBoolean("counted_all")
                                                ? Optional.empty()
                                                : Optional.of(AMONG),
                                        now))
                .orElseThrow();
    }

    /** Until when they live, which a statement doesn't change. */
    String left(String whose) {
        return "%s %s".formatted(LIVES_ON, until(whose));
    }

    private String until(String whose) {
        Optional<Moment> end =
                last.filter(time -> time.isAfter(now)).map(time -> new Moment(time, now));
        String of = whose + among.map(some -> ", looking at %s,".formatted(some)).orElse("");
        return end.map(moment ->
                        "The last credential of %s may live until %s (%s)."
                                .formatted(of, moment.clock(), moment.distance()))
                .orElse("No credential of %s lives now.".formatted(of));
    }
}
