package io.mintmark.console.pages.history;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.frame.Visibility;
import io.mintmark.console.pages.statements.Outstanding;
import io.mintmark.console.pages.statements.Statements;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How a tenant's configuration, or what belongs to no tenant, or one row, came to be as it is.
 *
 * @param tenant none: what belongs to no tenant
 * @param table of the one row
 * @param filter what narrows it, unless it is one row's
 * @param changes the newest first
 * @param next the revision before which there may be more
 * @param statements that extend or revoke the row, if it is a grant
 */
public record HistoryPage(
        Optional<String> tenant,
        Optional<String> table,
        Optional<String> row,
        HistoryFilter filter,
        List<Change> changes,
        Optional<Long> next,
        List<Statements.Statement> statements) {

    /** Tables whose changes a tenant's history has most. */
    static final List<String> TABLES =
            List.of(
                    "subject_grant",
                    "key",
                    "access_rule",
                    "access_approver",
                    "access_request",
                    "blocked_subject",
                    "grant_review",
                    "identity_provider",
                    "access_provider",
                    "tenant",
                    "tenant_admin",
                    "console_access");

    private static final int MOST = 40;

    /** The number of a row's changes up to which the details of each are shown unfolded. */
    static final int OPEN = 5;

    private static final String GRANT = "subject_grant";

    /** The end of a grant. That of a grant from a request was approved with the request. */
    private static final String ENDS =
            """
            SELECT FROM broker.subject_grant AS g
             WHERE g.tenant = ? AND g.id = ? AND g.enabled AND g.valid_until IS NOT NULL AND g.request_id IS NULL
            """;

    /** The page at {@code /tenants/{tenant}/history}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String tenant = request.path().pathParameters().get("tenant");
        return view(connection, Optional.of(tenant), new Parameters(request), now);
    }

    /**
     * The page at {@code /history}, of rows without tenant. A tenant has its own page, even after
     * its deletion.
     */
    public static View ofPlatform(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Parameters parameters = new Parameters(request);
        Optional<String> tenant = parameters.text("tenant");
        return tenant.isPresent()
                ? View.elsewhere(Links.history(tenant))
                : view(connection, tenant, parameters, now);
    }

    private static View view(
            Connection connection, Optional<String> tenant, Parameters parameters, Instant now)
            throws SQLException {
        return of(
                        connection,
                        tenant,
                        parameters.text("row").isPresent()
                                ? parameters.text("table")
                                : Optional.empty(),
                        parameters.text("row"),
                        HistoryFilter.of(parameters),
                        parameters.number("before").orElse(Long.MAX_VALUE),
                        now)
                .map(page -> View.of("History", "history/history", page))
                .orElseGet(() -> View.absent("history"));
    }

    /**
     * The history of a tenant, of no tenant or of a row, if the viewer may see any.
     *
     * @param before show revisions before this one
     */
    public static Optional<HistoryPage> of(
            Connection connection,
            Optional<String> tenant,
            Optional<String> table,
            Optional<String> row,
            HistoryFilter filter,
            long before,
            Instant now)
            throws SQLException {
        boolean seen =
                tenant.isPresent()
                        ? Visibility.sees(connection, tenant.get())
                        : Visibility.seesAll(connection);
        return seen
                ? Optional.of(ofSeen(connection, tenant, table, row, filter, before, now))
                        .filter(page -> !page.changes().isEmpty() || !filter.isEmpty())
                : Optional.empty();
    }

    private static HistoryPage ofSeen(
            Connection connection,
            Optional<String> tenant,
            Optional<String> table,
            Optional<String> row,
            HistoryFilter filter,
            long before,
            Instant now)
            throws SQLException {
        if (table.isEmpty() || row.isEmpty()) {
            return whole(
                    tenant, filter, Change.latest(connection, tenant, filter, before, MOST + 1));
        }
        boolean grant = tenant.isPresent() && table.get().equals(GRANT);
        List<Change> changes =
                grant
                        ? Change.ofGrant(connection, tenant.orElseThrow(), number(row.get()), MOST)
                        : Change.ofRow(connection, tenant, table.get(), row.get(), before, MOST);
        return new HistoryPage(
                tenant,
                table,
                row,
                HistoryFilter.NONE,
                changes,
                Optional.empty(),
                grant && isThere(changes)
                        ? statements(connection, tenant.orElseThrow(), number(row.get()), now)
                        : List.of());
    }

    private static HistoryPage whole(
            Optional<String> tenant, HistoryFilter filter, List<Change> found) {
        boolean more = found.size() > MOST;
        List<Change> changes = more ? found.subList(0, MOST) : found;
        return new HistoryPage(
                tenant,
                Optional.empty(),
                Optional.empty(),
                filter,
                changes,
                more ? Optional.of(changes.getLast().revision()) : Optional.empty(),
                List.of());
    }

    private static List<Statements.Statement> statements(
            Connection connection, String tenant, long grant, Instant now) throws SQLException {
        Statements.Statement revocation =
                Statements.revoke(tenant, grant, Outstanding.ofGrant(connection, grant, now));
        return Query.of(ENDS, tenant, grant).first(connection, _ -> true).isPresent()
                ? List.of(Statements.extend(tenant, grant), revocation)
                : List.of(revocation);
    }

    private static boolean isThere(List<Change> changes) {
        return !changes.isEmpty() && !changes.getFirst().operation().equals("DELETE");
    }

    /** The address of the page with older changes. */
    Optional<String> older() {
        return next.map(revision ->
                filter.isEmpty()
                        ? "%s?before=%d".formatted(Links.history(tenant), revision)
                        : "%s%s&before=%d"
                                .formatted(Links.history(tenant), filter.query(), revision));
    }

    private static long number(String text) {
        if (!Parameters.isNumber(text)) {
            throw new Parameters.Unusable("'%s' is not the number of a grant.".formatted(text));
        }
        return Long.parseLong(text);
    }
}
