package io.mintmark.console.pages.tenants;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.activity.Activity;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.activity.Spark;
import io.mintmark.console.pages.frame.Frame;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A tenant in the list of tenants.
 *
 * @param keys enabled ones, at most one more than are counted; grants and reviews alike
 * @param reviews grants that are due for review
 * @param lint warnings; none if they were not counted
 * @param day its mints and refusals of a day
 */
record TenantLine(
        String name,
        Optional<String> displayName,
        boolean enabled,
        long keys,
        long grants,
        long reviews,
        List<String> admins,
        Lint lint,
        Activity day) {
    static final int COUNTED = 1_000;

    /**
     * The maximum number of keys in the listed tenants whose lint warnings are computed. With more
     * keys, only the warnings that triggers stored are counted.
     */
    private static final int KEYS_LINTED = 50;

    private static final String TENANTS =
            """
            SELECT t.name, t.display_name, t.enabled,
                   (SELECT count(*) FROM (SELECT FROM broker.key AS k
                     WHERE k.tenant = t.name AND k.enabled LIMIT ?) AS n) AS keys,
                   (SELECT count(*) FROM (SELECT FROM broker.subject_grant AS g
                     WHERE g.tenant = t.name AND g.enabled LIMIT ?) AS n) AS grants,
                   (SELECT count(*) FROM (SELECT FROM internal.next_review AS n
                     WHERE n.tenant = t.name AND n.enabled
                       AND n.is_old_enough AND n.due_at < now() LIMIT ?) AS n) AS reviews,
                   ARRAY(SELECT a.role_name FROM broker.tenant_admin AS a
                          WHERE a.tenant = t.name ORDER BY a.role_name LIMIT 3) AS admins
              FROM broker.tenant AS t
             WHERE t.name >= ? AND starts_with(t.name, ?) AND t.name > ?
             ORDER BY t.name LIMIT ?
            """;

    private static final String LINT =
            "SELECT l.tenant, l.warnings, l.looked_at_keys FROM internal.lint_of_tenants(cast(? AS text[]), ?, ?) AS l";

    /**
     * Lint warnings.
     *
     * @param ofKeys whether those of keys, which are not stored, are among them
     */
    record Lint(long number, boolean ofKeys) {
        private static final Lint NONE = new Lint(0, true);
    }

    /** The next tenants after a name, among those with the given beginning. */
    static List<TenantLine> after(
            Connection connection, String start, String after, int most, Instant now)
            throws SQLException {
        int counted = COUNTED + 1;
        List<TenantLine> lines =
                Query.of(TENANTS, counted, counted, counted, start, start, after, most)
                        .list(connection, TenantLine::bare);
        List<String> names = lines.stream().map(TenantLine::name).toList();
        Map<String, Lint> lint = new HashMap<>();
        Query.of(LINT, names, KEYS_LINTED, counted)
                .each(
                        connection,
                        row ->
                                lint.put(
                                        row.getString("tenant"),
                                        new Lint(
                                                row.getLong("warnings"),
                                                row.getBoolean("looked_at_keys"))));
        Map<String, Activity> days = Activity.ofTenants(connection, names, Period.DAY.bins(now));
        return lines.stream()
                .map(line ->
                        line.with(
                                lint.getOrDefault(line.name(), Lint.NONE),
                                days.getOrDefault(line.name(), line.day())))
                .toList();
    }

    private static TenantLine bare(ResultSet row) throws SQLException {
        return new TenantLine(
                row.getString("name"),
                Query.text(row, "display_name"),
                row.getBoolean("enabled"),
                row.getLong("keys"),
                row.getLong("grants"),
                row.getLong("reviews"),
                Query.texts(row, "admins"),
                Lint.NONE,
                new Activity(List.of(), ""));
    }

    private TenantLine with(Lint warnings, Activity activity) {
        return new TenantLine(
                name, displayName, enabled, keys, grants, reviews, admins, warnings, activity);
    }

    /** A number that was counted up to a limit, in words. */
    static String counted(long number) {
        return (number > COUNTED ? "over " : "") + Frame.number(Math.min(number, COUNTED));
    }

    /** The noun of a number; its plural must be regular. */
    static String noun(long number, String what) {
        return number == 1 ? what : what + "s";
    }

    Spark spark() {
        return new Spark(day);
    }
}
