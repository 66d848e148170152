package io.mintmark.console.pages.tenants;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.NaturalOrder;
import io.mintmark.console.pages.frame.RowJson;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A row of a tenant's configuration with a name.
 *
 * @param what it is above all: an issuer, a type, a provider
 * @param settings JSON in several lines
 */
record TenantRow(
        String name,
        String what,
        String detail,
        Optional<String> settings,
        boolean enabled,
        String updatedBy,
        Instant updatedAt) {
    static final int MOST = 200;

    private static final String IDENTITY_PROVIDERS =
            """
            SELECT p.name, p.issuer AS what,
                   'audience ' || array_to_string(p.audiences, ', ')
                   || CASE WHEN p.accepts = '{subject}' THEN '' ELSE '; accepts ' || array_to_string(p.accepts, ', ') END AS detail,
                   nullif(p.required_claims, '{}')::text AS settings,
                   p.enabled, p.updated_by, p.updated_at
              FROM broker.identity_provider AS p
             WHERE p.tenant = ? AND strpos(p.name || ' ' || p.issuer, ?) > 0 ORDER BY p.name LIMIT ?
            """;

    private static final String ACCESS_PROVIDERS =
            """
            SELECT a.name, a.type AS what,
                   'targets ' || array_to_string(a.allowed_targets, ', ') AS detail, nullif(a.settings, '{}')::text AS settings,
                   a.enabled, a.updated_by, a.updated_at
              FROM broker.access_provider AS a
             WHERE a.tenant = ? AND strpos(a.name || ' ' || a.type, ?) > 0 ORDER BY a.name LIMIT ?
            """;

    private static final String KEYS =
            """
            SELECT k.name, k.provider AS what,
                   coalesce(k.description, '') AS detail, nullif(k.settings, '{}')::text AS settings,
                   k.enabled, k.updated_by, k.updated_at
              FROM broker.key AS k
             WHERE k.tenant = ? AND strpos(k.name || ' ' || k.provider, ?) > 0 ORDER BY k.name LIMIT ?
            """;

    /**
     * The first identity providers.
     *
     * @param with text in their name or issuer; empty for all
     */
    static List<TenantRow> identityProviders(Connection connection, String tenant, String with)
            throws SQLException {
        return rows(connection, IDENTITY_PROVIDERS, tenant, with);
    }

    /** The first access providers with a text in their name or type. */
    static List<TenantRow> accessProviders(Connection connection, String tenant, String with)
            throws SQLException {
        return rows(connection, ACCESS_PROVIDERS, tenant, with);
    }

    /** The first keys with a text in their name or that of their provider. */
    static List<TenantRow> keys(Connection connection, String tenant, String with)
            throws SQLException {
        return rows(connection, KEYS, tenant, with);
    }

    private static List<TenantRow> rows(
            Connection connection, String sql, String tenant, String with) throws SQLException {
        return Query.of(sql, tenant, with, MOST)
                .list(
                        connection,
                        row ->
                                new TenantRow(
                                        row.getString("name"),
                                        row.getString("what"),
                                        row.getString("detail"),
                                        Query.text(row, "settings")
                                                .map(json -> RowJson.indented(RowJson.read(json))),
                                        row.getBoolean("enabled"),
                                        row.getString("updated_by"),
                                        Query.time(row, "updated_at")))
                .stream()
                .sorted(Comparator.comparing(TenantRow::name, NaturalOrder.NAMES))
                .toList();
    }
}
