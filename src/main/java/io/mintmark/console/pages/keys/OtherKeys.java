package io.mintmark.console.pages.keys;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Visibility;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/** The existing keys, shown when a key doesn't exist. */
public final class OtherKeys {
    /** The number of names that are compared with the requested one. */
    private static final int MOST = 200;

    private static final String NEAREST =
            """
            SELECT internal.there_are(?, n.names, 'There are') AS hint
              FROM (SELECT ARRAY(SELECT k.name FROM broker.key AS k
                                  WHERE k.tenant = ? ORDER BY k.name LIMIT ?) AS names) AS n
             WHERE cardinality(n.names) > 0
            """;

    private OtherKeys() {}

    /** The nearest first, in a sentence; none where the tenant has none that the viewer may see. */
    public static Optional<String> of(Connection connection, String tenant, String written)
            throws SQLException {
        return Visibility.sees(connection, tenant)
                ? Query.of(NEAREST, written, tenant, MOST)
                        .first(connection, row -> row.getString("hint"))
                : Optional.empty();
    }
}
