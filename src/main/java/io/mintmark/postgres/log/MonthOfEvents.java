package io.mintmark.postgres.log;

import io.mintmark.audit.Checkpoint.RetiredMonth;
import io.mintmark.audit.Checkpoint.RetiredRows;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;

/** What a partition of {@code audit.event} holds, as the checkpoint that retires it says it. */
final class MonthOfEvents {
    private MonthOfEvents() {}

    /** Sees to it that nothing is added until the transaction's end. */
    static RetiredMonth read(Connection connection, String table) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            PostgresRetirement.execute(
                    connection, "LOCK TABLE audit.%s IN SHARE MODE".formatted(table));
            try (ResultSet alive =
                    statement.executeQuery(
                            "SELECT count(*) FROM audit.%s WHERE expires_at > now()"
                                    .formatted(table))) {
                if (alive.next() && alive.getLong(1) > 0) {
                    throw new SQLException(
                            "audit.%s records credentials that are still valid".formatted(table));
                }
            }
            long rows = 0;
            List<RetiredRows> parts = new ArrayList<>();
            try (ResultSet part = statement.executeQuery(parts(table))) {
                while (part.next()) {
                    long first = part.getLong("first");
                    long last = part.getLong("last");
                    rows += last - first + 1;
                    parts.add(
                            new RetiredRows(
                                    part.getString("chain"), first, last, part.getString("hash")));
                }
            }
            String name = table.substring("event_".length()).replace('_', '-');
            return new RetiredMonth(YearMonth.parse(name), rows, parts);
        }
    }

    /** Rows that follow one another, as the ends of each run of them. */
    private static String parts(String table) {
        return """
        SELECT island.chain, island.first, island.last, encode(e.hash, 'hex') AS hash
          FROM (SELECT chain, min(seq) AS first, max(seq) AS last
                  FROM (SELECT chain, seq,
                               seq - row_number() OVER (PARTITION BY chain ORDER BY seq) AS nr
                          FROM audit.%1$s) AS numbered
                 GROUP BY chain, nr) AS island
          JOIN audit.%1$s AS e ON e.chain = island.chain AND e.seq = island.last
         ORDER BY island.chain, island.first
        """
                .formatted(table);
    }
}
