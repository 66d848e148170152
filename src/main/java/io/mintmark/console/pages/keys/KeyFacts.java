package io.mintmark.console.pages.keys;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * What a key gives access to.
 *
 * @param maxDuration the longest lifetime of a credential, in seconds
 * @param target at the provider, such as a role
 * @param enabled whether everything that it depends on is
 */
public record KeyFacts(
        Optional<String> description,
        long maxDuration,
        String provider,
        String type,
        Optional<String> target,
        boolean enabled) {

    private static final String KEY =
            """
            SELECT k.description,
                   least(k.max_duration, y.max_duration, t.max_duration) AS max_duration,
                   k.provider, a.type,
                   internal.named_targets(y.target_setting || y.further_targets, y.key_settings,
                                          k.settings) AS target,
                   k.enabled AND a.enabled AND t.enabled AS enabled
              FROM broker.key AS k
              JOIN broker.tenant AS t ON t.name = k.tenant
              JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
              JOIN broker.provider_type AS y ON y.type = a.type
             WHERE k.tenant = ? AND k.name = ?
            """;

    /** The facts about an existing key that the viewer may see. */
    public static Optional<KeyFacts> of(Connection connection, String tenant, String name)
            throws SQLException {
        return Query.of(KEY, tenant, name).first(connection, KeyFacts::of);
    }

    private static KeyFacts of(ResultSet row) throws SQLException {
        return new KeyFacts(
                Query.text(row, "description"),
                row.getLong("max_duration"),
                row.getString("provider"),
                row.getString("type"),
                Query.text(row, "target"),
                row.getBoolean("enabled"));
    }
}
