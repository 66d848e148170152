package io.mintmark.audit.log;

import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.tree.TreeHash;
import io.mintmark.base.sql.Query;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * The tree over the rows that a checkpoint seals. Reads a bounded number of rows with each
 * statement, so that a million rows of an import exceed neither a time-out nor the memory.
 */
final class SealedTree {
    private static final int BATCH = 5_000;

    private static final String EVENTS =
            """
            SELECT e.hash
              FROM unnest(?::text[], ?::bigint[], ?::bigint[])
                   WITH ORDINALITY AS part (chain, first, last, place)
             CROSS JOIN LATERAL (SELECT e.seq, e.hash FROM log.event AS e
                                  WHERE e.chain = part.chain
                                    AND e.seq BETWEEN part.first AND part.last) AS e
             ORDER BY part.place, e.seq
            """;

    private static final String CHANGES =
            """
            SELECT c.hash
              FROM unnest(?::text[], ?::bigint[], ?::bigint[])
                   WITH ORDINALITY AS part (tenant, first, last, place)
             CROSS JOIN LATERAL (
                   SELECT c.revision, c.hash FROM log.config_change AS c
                    WHERE c.tenant = part.tenant AND c.revision BETWEEN part.first AND part.last
                    UNION ALL
                   SELECT c.revision, c.hash FROM log.config_change AS c
                    WHERE part.tenant IS NULL AND c.tenant IS NULL
                      AND c.revision BETWEEN part.first AND part.last) AS c
             ORDER BY part.place, c.revision
            """;

    private final Connection connection;
    private final TreeHash tree = new TreeHash();
    private final List<Part> batch = new ArrayList<>();
    private long rows;

    private record Part(Optional<String> chain, long first, long last) {}

    private SealedTree(Connection connection) {
        this.connection = connection;
    }

    static String root(Connection connection, List<Position> events, List<Position> changes)
            throws SQLException {
        SealedTree sealed = new SealedTree(connection);
        sealed.add(EVENTS, events);
        sealed.add(CHANGES, changes);
        return HexFormat.of().formatHex(sealed.tree.root());
    }

    private void add(String sql, List<Position> heads) throws SQLException {
        for (Position head : heads) {
            for (long first = head.first(); first <= head.at(); first += BATCH) {
                long last = Math.min(head.at(), first + BATCH - 1);
                if (rows + last - first >= BATCH) {
                    read(sql);
                }
                batch.add(new Part(head.chain(), first, last));
                rows += last - first + 1;
            }
        }
        read(sql);
    }

    private void read(String sql) throws SQLException {
        List<@Nullable String> chains = new ArrayList<>();
        batch.forEach(part -> chains.add(part.chain().orElse(null)));
        Query.of(
                        sql,
                        chains,
                        batch.stream().map(Part::first).toList(),
                        batch.stream().map(Part::last).toList())
                .each(connection, row -> tree.add(row.getBytes(1)));
        batch.clear();
        rows = 0;
    }
}
