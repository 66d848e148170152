package io.mintmark.console.pages;

import io.mintmark.console.pages.OverviewPage.Checkpoint;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Whether the log is as it was written.
 *
 * @param rows about so many are to be looked at
 * @param run the one under way, or the last
 * @param possible whether the console has keys to trust
 */
record ProofPage(
        List<Checkpoint> checkpoints,
        LogExtent extent,
        long rows,
        Optional<Proof.Run> run,
        boolean possible) {
    private static final int MOST = 20;

    private static final String CHECKPOINTS =
            """
            SELECT c.number, c.sealed_at FROM audit.checkpoint AS c
             ORDER BY c.number DESC LIMIT ?
            """;

    /** What the planner knows; nobody waits for a count of millions. */
    private static final String ROWS =
            """
            SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint AS rows
              FROM pg_catalog.pg_class AS c
             WHERE c.oid = 'audit.config_change'::regclass
                OR c.oid IN (SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i
                              WHERE i.inhparent = 'audit.event'::regclass)
            """;

    static ProofPage of(Connection connection, Proof proof) throws SQLException {
        return new ProofPage(
                Query.of(CHECKPOINTS, MOST)
                        .list(
                                connection,
                                row ->
                                        new Checkpoint(
                                                row.getLong("number"),
                                                Query.time(row, "sealed_at"))),
                LogExtent.of(connection),
                rows(connection),
                proof.last(),
                proof.isPossible());
    }

    static long rows(Connection connection) throws SQLException {
        return Query.of(ROWS).first(connection, row -> row.getLong("rows")).orElse(0L);
    }
}
