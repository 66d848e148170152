package io.mintmark.console.pages.activity;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How often one key or one subject was used lately.
 *
 * @param links to the same page for other periods
 */
public record RecentUse(Activity activity, Chart chart, List<Period.Link> links) {
    /**
     * Of the period that an address names, or else of a month.
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
