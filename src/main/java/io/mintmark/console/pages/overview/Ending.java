package io.mintmark.console.pages.overview;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Links;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Configuration that stops working soon by itself: a grant, or the certificate of an authority.
 *
 * @param table in the schema {@code broker}
 * @param row by which its table knows it
 * @param what it is, for people
 */
record Ending(Optional<String> tenant, String table, String row, String what, Instant at) {
    static final int GRANTS_WITHIN = 7;
    static final int CERTIFICATES_WITHIN = 30;
    static final int MOST = 200;

    private static final String SOON =
            """
            SELECT e.tenant, e.table_name, e.name, e.what, e.ends_at
              FROM internal.ends_soon(? * interval '1 day', ? * interval '1 day', ?) AS e
             ORDER BY e.ends_at LIMIT ?
            """;

    /** The rows that end first, up to the counted maximum. */
    static List<Ending> soon(Connection connection) throws SQLException {
        return Query.of(SOON, GRANTS_WITHIN, CERTIFICATES_WITHIN, MOST, MOST)
                .list(
                        connection,
                        row ->
                                new Ending(
                                        Query.text(row, "tenant"),
                                        row.getString("table_name"),
                                        row.getString("name"),
                                        row.getString("what"),
                                        Query.time(row, "ends_at")));
    }

    /** The noun of one of these, such as "grant". */
    static String noun(List<Ending> endings) {
        return endings.stream().allMatch(Ending::isGrant) ? "grant" : "certificate";
    }

    /** The plural of what these are; of both kinds, "grants and certificates". */
    static String nouns(List<Ending> endings) {
        return endings.stream().map(Ending::isGrant).distinct().count() > 1
                ? "grants and certificates"
                : noun(endings) + "s";
    }

    private boolean isGrant() {
        return table.equals("subject_grant");
    }

    /** The URL of the row, with the changed fields. */
    String address() {
        return Links.history(tenant, table, row);
    }
}
