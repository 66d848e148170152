package io.mintmark.console.pages.tenants;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.View;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The tenants that a viewer sees, sorted by name.
 *
 * @param beginning the prefix of the names
 * @param tenants one more than are shown if there are more
 */
public record TenantsPage(Optional<String> beginning, List<Line> tenants) {
    private static final int MOST = 100;

    private static final String TENANTS =
            """
            SELECT t.name, t.display_name, t.enabled
              FROM broker.tenant AS t
             WHERE t.name >= ? AND starts_with(t.name, ?) AND t.name > ?
             ORDER BY t.name LIMIT ?
            """;

    record Line(String name, Optional<String> displayName, boolean enabled) {}

    /** The page at {@code /tenants}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Parameters parameters = new Parameters(request);
        return View.of(
                "Tenants",
                "tenants/tenants",
                of(connection, parameters.text("q"), parameters.text("after")));
    }

    private static TenantsPage of(
            Connection connection, Optional<String> beginning, Optional<String> after)
            throws SQLException {
        String start = beginning.orElse("");
        return new TenantsPage(
                beginning,
                Query.of(TENANTS, start, start, after.orElse(""), MOST + 1)
                        .list(
                                connection,
                                row ->
                                        new Line(
                                                row.getString("name"),
                                                Query.text(row, "display_name"),
                                                row.getBoolean("enabled"))));
    }

    List<Line> shown() {
        return tenants.size() > MOST ? tenants.subList(0, MOST) : tenants;
    }

    Optional<String> next() {
        return tenants.size() > MOST ? Optional.of(shown().getLast().name()) : Optional.empty();
    }
}
