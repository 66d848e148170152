package io.mintmark.console.pages.week;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Grants with mints in a week, and grants that were in force but had none.
 *
 * @param exact whether all grants were looked at
 */
record WeekUses(WeekChanges.Found used, WeekChanges.Found unused, boolean exact) {
    /** The maximum number of grants that are looked at, and of changes that may be deletions. */
    private static final int LOOKED = 2_000;

    private static final String USES =
            """
            SELECT u.used, u.grant_id, u.subject, u.actor, u.key, u.granted_by, u.granted_at, u.uses, u.last_use, u.counted_uses,
                   u.grants, u.counted_grants, q.id AS request, q.break_glass, q.subject AS requester,
                   coalesce(q.reason, g.reason) AS reason,
                   ARRAY(SELECT coalesce(d.decided_by, d.subject) FROM broker.access_decision AS d
                          WHERE d.request = q.id AND d.verdict = 'approve' ORDER BY d.id) AS people
              FROM internal.uses_in_time(?, cast(? AS timestamptz), cast(? AS timestamptz), ?, ?) AS u
              LEFT JOIN broker.subject_grant AS g ON g.id = u.grant_id
              LEFT JOIN broker.access_request AS q ON q.id = u.request
             ORDER BY u.used DESC, u.uses DESC, u.granted_at, u.grant_id
            """;

    static WeekUses of(Connection connection, String tenant, Week week) throws SQLException {
        List<WeekLine> used = new ArrayList<>();
        List<WeekLine> unused = new ArrayList<>();
        long[] numbers = {0, 0};
        boolean[] exact = {true};
        Query.of(USES, tenant, week.start(), week.end(), LOOKED, WeekList.SHOWN)
                .each(
                        connection,
                        row -> {
                            boolean isUsed = row.getBoolean("used");
                            numbers[isUsed ? 0 : 1] = row.getLong("grants");
                            exact[0] &= row.getBoolean("counted_grants");
                            (isUsed ? used : unused).add(line(row, isUsed, tenant));
                        });
        return new WeekUses(
                new WeekChanges.Found(numbers[0], used),
                new WeekChanges.Found(numbers[1], unused),
                exact[0]);
    }

    private static WeekLine line(ResultSet row, boolean isUsed, String tenant) throws SQLException {
        String granted =
                Query.text(row, "request").isEmpty()
                        ? "granted by"
                        : row.getBoolean("break_glass") ? "break glass by" : "approved by";
        List<String> people = Query.texts(row, "people");
        String by =
                people.isEmpty()
                        ? Query.text(row, "requester").orElse(row.getString("granted_by"))
                        : String.join(", ", people);
        return new WeekLine(
                Query.time(row, isUsed ? "last_use" : "granted_at"),
                Links.grant(tenant, row.getLong("grant_id")),
                row.getString("subject"),
                Query.text(row, "actor"),
                row.getString("key"),
                isUsed ? mints(row) + ", " + granted : granted,
                Optional.of(by),
                Query.text(row, "reason"));
    }

    private static String mints(ResultSet row) throws SQLException {
        return (row.getBoolean("counted_uses") ? "" : "over ")
                + Frame.count(row.getLong("uses"), "mint");
    }
}
