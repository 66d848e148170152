package io.mintmark.console.pages;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/**
 * From when to when the log of mints and refusals reaches, and how far checkpoints cover it.
 *
 * @param first the oldest row; none if there is none
 * @param uncovered rows that no checkpoint covers yet, of those that were looked at
 * @param counted whether those are all
 */
record LogExtent(Optional<Row> first, Optional<Row> last, long uncovered, boolean counted) {
    private static final int MOST = 10_000;

    private static final String FIRST =
            "SELECT e.mint_id, e.occurred_at FROM audit.event AS e ORDER BY e.mint_id LIMIT 1";

    private static final String LAST =
            """
            SELECT e.mint_id, e.occurred_at FROM audit.event AS e
             ORDER BY e.mint_id DESC, e.step DESC LIMIT 1
            """;

    private static final String UNSEALED =
            "SELECT u.unsealed, u.counted FROM internal.unsealed_rows(?) AS u";

    /** A row, by its mint and its time. */
    record Row(String mint, Instant at) {}

    static LogExtent of(Connection connection) throws SQLException {
        Optional<Row> first = Query.of(FIRST).first(connection, LogExtent::row);
        Optional<Row> last = Query.of(LAST).first(connection, LogExtent::row);
        return Query.of(UNSEALED, MOST)
                .first(
                        connection,
                        row ->
                                new LogExtent(
                                        first,
                                        last,
                                        row.getLong("unsealed"),
                                        row.getBoolean("counted")))
                .orElseThrow();
    }

    private static Row row(ResultSet row) throws SQLException {
        return new Row(row.getString("mint_id"), Query.time(row, "occurred_at"));
    }

    /** How many rows wait for a checkpoint, as far as they were counted. */
    String uncoveredRows() {
        return counted ? Frame.count(uncovered, "row") : "over " + Frame.number(MOST) + " rows";
    }
}
