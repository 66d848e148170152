package io.mintmark.console.pages;

import io.mintmark.postgres.connection.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * The tenants that a viewer sees, sorted by name.
 *
 * @param beginning the prefix of the names
 * @param tenants one more than are shown if there are more
 */
record TenantsPage(Optional<String> beginning, List<Line> tenants) {
    private static final int MOST = 100;

    private static final String TENANTS =
            """
            SELECT t.name, t.display_name, t.enabled
              FROM broker.tenant AS t
             WHERE t.name >= ? AND starts_with(t.name, ?) AND t.name > ?
             ORDER BY t.name LIMIT ?
            """;

    record Line(String name, Optional<String> displayName, boolean enabled) {}

    static TenantsPage of(Connection connection, Optional<String> beginning, Optional<String> after)
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
