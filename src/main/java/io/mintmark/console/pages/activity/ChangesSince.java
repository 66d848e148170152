package io.mintmark.console.pages.activity;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/** How often a tenant's configuration was changed since a moment. */
public record ChangesSince(String tenant, Instant since, long count, boolean all) {
    private static final int MOST = 100;

    private static final String COUNT =
            """
            SELECT count(*)
              FROM (SELECT n.changed_at FROM audit.config_change AS n
                     WHERE n.tenant = ? ORDER BY n.revision DESC LIMIT ?) AS c
             WHERE c.changed_at > cast(? AS timestamptz)
            """;

    /** Counts the changes of a tenant after a moment, up to a limit. */
    public static ChangesSince of(Connection connection, String tenant, Instant since)
            throws SQLException {
        long found =
                Query.of(COUNT, tenant, MOST + 1, since)
                        .first(connection, row -> row.getLong(1))
                        .orElseThrow();
        return new ChangesSince(tenant, since, Math.min(found, MOST), found <= MOST);
    }

    /** Whether the configuration is the same as at that moment. */
    public boolean isNone() {
        return count == 0;
    }

    /** The number in words, such as "3 changes". */
    String many() {
        return (all ? "" : "more than ") + Frame.count(count, "change");
    }

    /** The URL of the tenant's history, whose newest changes come first. */
    String address() {
        return Links.history(Optional.of(tenant));
    }
}
