package io.mintmark.console.pages.overview;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.activity.Count;
import io.mintmark.console.pages.frame.Links;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/**
 * Who was denied a key most often.
 *
 * @param reason of the latest of these denials
 * @param last the latest of these denials
 * @param counted whether all denials of the time were read
 */
record MostDenied(
        String tenant,
        String subject,
        String key,
        String reason,
        long denials,
        String last,
        Instant firstAt,
        Instant lastAt,
        boolean counted) {
    private static final int READ = 5_000;
    private static final int SHOWN = 5;

    private static final String DENIED =
            """
            SELECT d.tenant, d.subject, d.key, d.reason, d.denials, d.last, d.first_at, d.last_at, d.counted
              FROM internal.most_denied(NULL, cast(? AS timestamptz), ?, ?) AS d
            """;

    static List<MostDenied> since(Connection connection, Instant since) throws SQLException {
        return Query.of(DENIED, since, READ, SHOWN)
                .list(
                        connection,
                        row ->
                                new MostDenied(
                                        row.getString("tenant"),
                                        row.getString("subject"),
                                        row.getString("key"),
                                        row.getString("reason"),
                                        row.getLong("denials"),
                                        row.getString("last"),
                                        Query.time(row, "first_at"),
                                        Query.time(row, "last_at"),
                                        row.getBoolean("counted")));
    }

    /** The number of these denials, or a bound of it. */
    Count count() {
        return Count.of(denials, counted);
    }

    /** The URL of all these denials. */
    String address(Instant since) {
        return "/mints?outcome=denied&tenant=%s&key=%s&subject=%s&from=%s"
                .formatted(
                        Links.encoded(tenant),
                        Links.encoded(key),
                        Links.encoded(subject),
                        Links.time(since));
    }

    /** The reason of the last denial, in words. */
    String explanation() {
        return "/explain?mint=" + last;
    }
}
