package io.mintmark.console.pages.week;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.activity.Count;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Who was denied which key in a week, the most often denied first.
 *
 * @param number of denials
 * @param parties how many subjects and keys they are of
 * @param exact whether all refusals of the week were read
 */
record WeekDenials(long number, long parties, boolean exact, List<WeekLine> lines) {
    /** The maximum number of refusals that are read, the newest first. */
    private static final int READ = 5_000;

    private static final String DENIALS =
            """
            SELECT d.subject, d.actor, d.key, d.reason, d.denials, d.last_at, d.parties, d.all_denials, d.counted
              FROM internal.denials_in_time(?, cast(? AS timestamptz), cast(? AS timestamptz), ?, ?) AS d
            """;

    private record Denied(long all, long parties, boolean counted, WeekLine line) {}

    static WeekDenials of(Connection connection, String tenant, Week week) throws SQLException {
        List<Denied> found =
                Query.of(DENIALS, tenant, week.start(), week.end(), READ, WeekList.SHOWN)
                        .list(connection, row -> denied(row, tenant, week));
        return found.isEmpty()
                ? new WeekDenials(0, 0, true, List.of())
                : new WeekDenials(
                        found.getFirst().all(),
                        found.getFirst().parties(),
                        found.getFirst().counted(),
                        found.stream().map(Denied::line).toList());
    }

    private static Denied denied(ResultSet row, String tenant, Week week) throws SQLException {
        String subject = row.getString("subject");
        String key = row.getString("key");
        boolean counted = row.getBoolean("counted");
        return new Denied(
                row.getLong("all_denials"),
                row.getLong("parties"),
                counted,
                new WeekLine(
                        Query.time(row, "last_at"),
                        "%s&key=%s&subject=%s"
                                .formatted(
                                        address(tenant, week),
                                        Links.encoded(key),
                                        Links.encoded(subject)),
                        subject,
                        Query.text(row, "actor"),
                        key,
                        Count.of(row.getLong("denials"), counted).of("denial")
                                + ", the last: "
                                + row.getString("reason").replace('_', ' '),
                        Optional.empty(),
                        Optional.empty()));
    }

    /** The list of all denials of the week. */
    static String address(String tenant, Week week) {
        return "/mints?outcome=denied&tenant=%s&%s".formatted(Links.encoded(tenant), week.range());
    }

    /** How many subjects and keys the denials are of, in words. */
    String words() {
        return exact
                ? Frame.count(parties, "pair of subject and key", "pairs of subject and key")
                : Count.of(parties, false) + " pairs of subject and key";
    }
}
