package io.mintmark.console.pages;

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
 * @param changes the newest first
 * @param next the revision before which there may be more
 * @param statements what revokes the row, if it is a grant
 */
record HistoryPage(
        Optional<String> tenant,
        Optional<String> table,
        Optional<String> row,
        List<Change> changes,
        Optional<Long> next,
        List<Statements.Statement> statements) {

    private static final int MOST = 50;
    private static final String GRANT = "subject_grant";

    /**
     * The history of a tenant, of no tenant or of a row, if the viewer may see any.
     *
     * @param before show revisions before this one
     */
    static Optional<HistoryPage> of(
            Connection connection,
            Optional<String> tenant,
            Optional<String> table,
            Optional<String> row,
            long before,
            Instant now)
            throws SQLException {
        boolean seen =
                tenant.isPresent()
                        ? OverviewPage.sees(connection, tenant.get())
                        : OverviewPage.seesAll(connection);
        return seen
                ? Optional.of(ofSeen(connection, tenant, table, row, before, now))
                        .filter(page -> !page.changes().isEmpty())
                : Optional.empty();
    }

    private static HistoryPage ofSeen(
            Connection connection,
            Optional<String> tenant,
            Optional<String> table,
            Optional<String> row,
            long before,
            Instant now)
            throws SQLException {
        if (table.isEmpty() || row.isEmpty()) {
            return whole(tenant, Change.latest(connection, tenant, before, MOST + 1));
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
                changes,
                Optional.empty(),
                grant && isThere(changes)
                        ? revocation(connection, tenant.orElseThrow(), number(row.get()), now)
                        : List.of());
    }

    private static HistoryPage whole(Optional<String> tenant, List<Change> found) {
        boolean more = found.size() > MOST;
        List<Change> changes = more ? found.subList(0, MOST) : found;
        return new HistoryPage(
                tenant,
                Optional.empty(),
                Optional.empty(),
                changes,
                more ? Optional.of(changes.getLast().revision()) : Optional.empty(),
                List.of());
    }

    private static List<Statements.Statement> revocation(
            Connection connection, String tenant, long grant, Instant now) throws SQLException {
        return List.of(
                Statements.revoke(tenant, grant, Outstanding.ofGrant(connection, grant, now)));
    }

    private static boolean isThere(List<Change> changes) {
        return !changes.isEmpty() && !changes.getFirst().operation().equals("DELETE");
    }

    private static long number(String text) {
        if (!Parameters.isNumber(text)) {
            throw new Parameters.Unusable("'%s' is not the number of a grant.".formatted(text));
        }
        return Long.parseLong(text);
    }
}
