package io.mintmark.console.pages.activity;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The recent use of one key or one subject.
 *
 * @param links to the same page for other periods
 */
public record RecentUse(Activity activity, Chart chart, List<Period.Link> links) {
    /**
     * The use in the period that the URL names, or in the last month if it names none.
     *
     * @param mints the path of the list that the chart's bars lead to
     * @param page the path of the page that the chart is on
     */
    public static RecentUse of(
            Connection connection,
            Activity.Scope scope,
            Optional<Period> asked,
            String mints,
            String page,
            Instant now)
            throws SQLException {
        Period period = asked.orElse(Period.MONTH);
        Activity activity = Activity.of(connection, scope, period.bins(now));
        return new RecentUse(
                activity, Chart.low(activity, mints), Period.links(page, Optional.of(period)));
    }
}
