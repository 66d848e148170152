package io.mintmark.postgres.log;

import io.mintmark.audit.Checkpoint.RetiredMonth;
import io.mintmark.audit.Checkpoint.RetiredRows;
import io.mintmark.postgres.connection.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.YearMonth;
import java.util.List;

/** What a partition of {@code audit.event} holds, as the checkpoint that retires it says it. */
final class MonthOfEvents {
    private MonthOfEvents() {}

    /** Sees to it that nothing is added until the transaction's end. */
    static RetiredMonth read(Connection connection, String table) throws SQLException {
        Query.of("LOCK TABLE audit.%s IN SHARE MODE".formatted(table)).execute(connection);
        boolean alive =
                Query.of("SELECT FROM audit.%s WHERE expires_at > now() LIMIT 1".formatted(table))
                        .first(connection, _ -> true)
                        .isPresent();
        if (alive) {
            throw new SQLException(
                    "audit.%s records credentials that are still valid".formatted(table));
        }
        List<RetiredRows> parts =
                Query.of(parts(table))
                        .list(
                                connection,
                                row ->
                                        new RetiredRows(
                                                row.getString("chain"),
                                                row.getLong("first"),
                                                row.getLong("last"),
                                                row.getString("hash")));
        long rows = parts.stream().mapToLong(part -> part.last() - part.first() + 1).sum();
        String name = table.substring("event_".length()).replace('_', '-');
        return new RetiredMonth(YearMonth.parse(name), rows, parts);
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
