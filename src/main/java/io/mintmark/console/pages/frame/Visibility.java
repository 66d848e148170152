package io.mintmark.console.pages.frame;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;

/** Decides which tenants the viewer of a page may see. */
public final class Visibility {
    private static final String SEES =
            "SELECT internal.viewer_sees_all() OR cast(? AS text) = ANY"
                    + " (internal.tenants_of_viewer())";

    private static final String SEES_ALL = "SELECT internal.viewer_sees_all()";

    private Visibility() {}

    /**
     * Whether the viewer may see a tenant. If not, its rows are not read, because the time that it
     * takes would show how many there are.
     */
    public static boolean sees(Connection connection, String tenant) throws SQLException {
        return Query.of(SEES, tenant).first(connection, row -> row.getBoolean(1)).orElse(false);
    }

    /** Whether the viewer may see all tenants, and with them rows that belong to no tenant. */
    public static boolean seesAll(Connection connection) throws SQLException {
        return Query.of(SEES_ALL).first(connection, row -> row.getBoolean(1)).orElse(false);
    }
}
