package io.mintmark.console.pages.subjects;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.activity.Count;
import io.mintmark.console.pages.statements.Outstanding;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A subject's recent activity and credentials.
 *
 * @param counted whether mints and refusals are all of the last 24 hours
 * @param living credentials on record that are still valid
 * @param last when the last of them expires
 * @param possibly when the last possible credential expires whose existence isn't known, or else
 *     {@code last}
 * @param types those of the providers of these credentials
 * @param all whether all of its mints were evaluated
 */
public record SubjectActivity(
        long mints,
        long refusals,
        boolean counted,
        long living,
        Optional<Instant> last,
        Optional<Instant> possibly,
        List<String> types,
        boolean all) {

    /** The maximum number of mints and refusals that are evaluated, the newest first. */
    private static final int MOST = 2_000;

    private static final String AMONG = "only its latest mints";

    private static final Duration LATELY = Duration.ofHours(24);

    private static final String ACTIVITY =
            """
            SELECT a.mints, a.refusals, a.counted, a.living, a.last_ends_at,
                   a.may_live_until, a.living_types, a.looked_at_all
              FROM internal.activity_of_subject(?, cast(? AS timestamptz), ?) AS a
            """;

    /** The last 24 hours of a subject, as far as the viewer may see them. */
    public static SubjectActivity of(Connection connection, String subject, Instant now)
            throws SQLException {
        return Query.of(ACTIVITY, subject, now.minus(LATELY), MOST)
                .first(
                        connection,
                        row ->
                                new SubjectActivity(
                                        row.getLong("mints"),
                                        row.getLong("refusals"),
                                        row.getBoolean("counted"),
                                        row.getLong("living"),
                                        Query.timeIfAny(row, "last_ends_at"),
                                        Query.timeIfAny(row, "may_live_until"),
                                        Query.texts(row, "living_types"),
                                        row.getBoolean("looked_at_all")))
                .orElseThrow();
    }

    /** How many mints there were in words, such as "over 1,900 mints". */
    String minted() {
        return words(mints, "mint", counted);
    }

    String refused() {
        return words(refusals, "refusal", counted);
    }

    /** The number of its credentials that are valid, or a bound of it. */
    Count valid() {
        return Count.of(living, all);
    }

    private static String words(long number, String what, boolean all) {
        return number == 0 && !all
                ? "no %s that was counted".formatted(what)
                : Count.of(number, all).of(what);
    }

    /** The credentials that a block would not end. */
    public Outstanding outstanding(Instant now) {
        return new Outstanding(
                last, possibly, types, all ? Optional.empty() : Optional.of(AMONG), now);
    }
}
