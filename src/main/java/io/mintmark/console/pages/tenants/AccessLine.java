package io.mintmark.console.pages.tenants;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A rule that gives ID tokens access to a tenant in the console.
 *
 * @param tenant none for all tenants, which only viewers of all tenants see
 */
record AccessLine(
        long id,
        Optional<String> tenant,
        String claim,
        String value,
        Optional<String> reason,
        boolean enabled,
        String by,
        Instant at) {
    private static final String OF_TENANT =
            """
            SELECT a.id, a.tenant, a.claim, a.value::text AS value, a.reason, a.enabled, a.updated_by,
                   a.updated_at
              FROM broker.console_access AS a
             WHERE a.tenant = ? OR a.all_tenants
             ORDER BY a.tenant, a.id LIMIT ?
            """;

    static List<AccessLine> of(Connection connection, String tenant, int most) throws SQLException {
        return Query.of(OF_TENANT, tenant, most)
                .list(
                        connection,
                        row ->
                                new AccessLine(
                                        row.getLong("id"),
                                        Query.text(row, "tenant"),
                                        row.getString("claim"),
                                        row.getString("value"),
                                        Query.text(row, "reason"),
                                        row.getBoolean("enabled"),
                                        row.getString("updated_by"),
                                        Query.time(row, "updated_at")));
    }
}
