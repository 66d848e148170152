package io.mintmark.console.pages.week;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.activity.Activity;
import io.mintmark.console.pages.activity.Chart;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Suggestions;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.week.WeekChanges.Found;
import io.mintmark.console.pages.week.WeekList.Kind;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What happened in a tenant in a week.
 *
 * @param previous none if the tenant did not exist before this week
 * @param next none if this is the week of now
 * @param running whether the week isn't over
 */
public record WeekPage(
        String tenant,
        Optional<String> displayName,
        Week week,
        Optional<Week> previous,
        Optional<Week> next,
        boolean running,
        Activity activity,
        Chart chart,
        List<WeekList> lists) {

    private static final String TENANT =
            "SELECT t.display_name, t.created_at FROM broker.tenant AS t WHERE t.name = ?";

    private static final String GRANTS = "subject_grant";

    private record Tenant(Optional<String> displayName, Instant createdAt) {}

    /** The page at {@code /tenants/{tenant}/week}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String name = request.path().pathParameters().get("tenant");
        Week week = Week.of(new Parameters(request), now);
        Optional<Tenant> tenant =
                Query.of(TENANT, name)
                        .first(
                                connection,
                                row ->
                                        new Tenant(
                                                Query.text(row, "display_name"),
                                                Query.time(row, "created_at")));
        return tenant.isPresent()
                ? View.of(
                        "%s, %s".formatted(name, week.words()),
                        "week/week",
                        of(connection, name, tenant.get(), week, now))
                : View.absent("tenant", Suggestions.ofTenant(connection, name));
    }

    private static WeekPage of(
            Connection connection, String name, Tenant tenant, Week week, Instant now)
            throws SQLException {
        Activity activity =
                Activity.of(connection, Activity.Scope.all(Optional.of(name)), week.days());
        return new WeekPage(
                name,
                tenant.displayName(),
                week,
                Optional.of(week.previous()).filter(_ -> week.start().isAfter(tenant.createdAt())),
                Optional.of(week.next()).filter(_ -> !week.isRunning(now)),
                week.isRunning(now),
                activity,
                Chart.low(activity, "/mints?tenant=" + Links.encoded(name)),
                lists(
                        name,
                        week,
                        WeekChanges.of(connection, name, week),
                        WeekUses.of(connection, name, week),
                        WeekDenials.of(connection, name, week)));
    }

    private static List<WeekList> lists(
            String tenant, Week week, WeekChanges changes, WeekUses uses, WeekDenials denials) {
        String history = "%s?%s&table=".formatted(Links.history(Optional.of(tenant)), week.range());
        return List.of(
                list(
                        Kind.GRANTED,
                        changes.of(Kind.GRANTED),
                        changes.exact(),
                        "",
                        "When",
                        history + GRANTS,
                        "No grant was made."),
                list(
                        Kind.USED,
                        uses.used(),
                        uses.exact(),
                        "grants with a mint in this week",
                        "Last mint",
                        "/mints?outcome=minted&tenant=%s&%s"
                                .formatted(Links.encoded(tenant), week.range()),
                        "No grant was used."),
                list(
                        Kind.UNUSED,
                        uses.unused(),
                        uses.exact(),
                        "grants without a mint in this week, in force before it and now",
                        "Granted",
                        "/reviews?show=all&tenant=" + Links.encoded(tenant),
                        "Every grant that was in force before this week, and still is, was used."),
                list(
                        Kind.APPROVED,
                        changes.of(Kind.APPROVED),
                        changes.exact(),
                        "decisions on requests, and grants approved by a second admin",
                        "When",
                        history + "access_decision",
                        "No request was decided."),
                list(
                        Kind.ENDED,
                        changes.ended(),
                        changes.exact(),
                        "grants that were disabled, deleted or withdrawn, or reached their end",
                        "When",
                        history + GRANTS,
                        "No grant ended."),
                new WeekList(
                        Kind.DENIED,
                        WeekList.total(denials.number(), denials.exact()),
                        denials.words(),
                        "Last",
                        denials.lines(),
                        denials.parties() - denials.lines().size(),
                        denials.exact(),
                        WeekDenials.address(tenant, week),
                        "No subject was denied a key."));
    }

    private static WeekList list(
            Kind kind,
            Found found,
            boolean exact,
            String explanation,
            String when,
            String address,
            String none) {
        return new WeekList(
                kind,
                WeekList.total(found.number(), exact),
                explanation,
                when,
                found.lines(),
                found.number() - found.lines().size(),
                exact,
                address,
                none);
    }
}
