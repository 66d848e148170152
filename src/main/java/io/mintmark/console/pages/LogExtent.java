package io.mintmark.console.pages;

import io.mintmark.console.pages.OverviewPage.Checkpoint;
import io.mintmark.postgres.connection.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * From when to when the log of mints and refusals reaches, and how far checkpoints cover it.
 *
 * @param first the oldest row; none if there is none
 * @param unsealed rows that no checkpoint covers yet
 * @param sealed the last checkpoint; none if there is none
 */
record LogExtent(
        Optional<Row> first, Optional<Row> last, Rows unsealed, Optional<Checkpoint> sealed) {
    private static final int MOST = 10_000;

    private static final String FIRST =
            "SELECT e.mint_id, e.occurred_at FROM audit.event AS e ORDER BY e.mint_id LIMIT 1";

    private static final String LAST =
            """
            SELECT e.mint_id, e.occurred_at FROM audit.event AS e
             ORDER BY e.mint_id DESC, e.step DESC LIMIT 1
            """;

    private static final String UNSEALED =
            "SELECT u.unsealed AS rows, u.counted FROM internal.unsealed_rows(?) AS u";

    /** A mint that had begun before may have ended since; none takes longer. */
    private static final Duration LONGEST_MINT = Duration.ofMinutes(2);

    private static final String SINCE =
            """
            SELECT count(*) FILTER (WHERE r.occurred_at >= cast(? AS timestamptz)) AS rows, count(*) <= ? AS counted
              FROM (SELECT e.occurred_at FROM audit.event AS e
                     WHERE e.mint_id >= audit.first_mint_id(cast(? AS timestamptz))
                     ORDER BY e.mint_id DESC LIMIT ?) AS r
            """;

    /** A row, by its mint and its time. */
    record Row(String mint, Instant at) {}

    /**
     * The number of rows.
     *
     * @param counted whether the number is exact
     */
    record Rows(long number, boolean counted) {
        String words() {
            return counted ? Frame.count(number, "row") : "over " + Frame.number(MOST) + " rows";
        }
    }

    static LogExtent of(Connection connection) throws SQLException {
        return new LogExtent(
                Query.of(FIRST).first(connection, LogExtent::row),
                Query.of(LAST).first(connection, LogExtent::row),
                Query.of(UNSEALED, MOST).first(connection, LogExtent::rows).orElseThrow(),
                Checkpoint.last(connection));
    }

    /** How many of mints and refusals came since a time. */
    static Rows since(Connection connection, Instant time) throws SQLException {
        return Query.of(SINCE, time, MOST, time.minus(LONGEST_MINT), MOST + 1)
                .first(connection, LogExtent::rows)
                .orElseThrow();
    }

    private static Row row(ResultSet row) throws SQLException {
        return new Row(row.getString("mint_id"), Query.time(row, "occurred_at"));
    }

    private static Rows rows(ResultSet row) throws SQLException {
        return new Rows(row.getLong("rows"), row.getBoolean("counted"));
    }
}
