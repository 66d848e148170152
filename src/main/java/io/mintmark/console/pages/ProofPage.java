package io.mintmark.console.pages;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Whether the log is as it was written.
 *
 * @param checkpoints the newest first, one more than are shown if there are more
 * @param before the number before which they are shown; none: the last ones
 * @param extent with how far the last checkpoint covers it
 * @param expected rows that a verification will look at, about
 * @param since rows that came since the last verification began, if one has ended
 * @param run the one in progress, or the last
 * @param failed an earlier one that failed, after which none was clean
 * @param possible whether the console has keys to trust
 * @param trusted their ids
 */
record ProofPage(
        List<CheckpointLine> checkpoints,
        Optional<Long> before,
        LogExtent extent,
        long expected,
        Optional<LogExtent.Rows> since,
        Optional<Proof.Run> run,
        Optional<Proof.Run> failed,
        boolean possible,
        List<String> trusted) {
    static final int MOST = 20;

    /** What the planner knows; nobody waits for a count of millions. */
    private static final String ESTIMATE =
            """
            SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint AS rows
              FROM pg_catalog.pg_class AS c
             WHERE c.oid = 'audit.config_change'::regclass
                OR c.oid IN (SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i
                              WHERE i.inhparent = 'audit.event'::regclass)
            """;

    static ProofPage of(Connection connection, Proof proof, Optional<Long> before)
            throws SQLException {
        Optional<Proof.Run> run = proof.last();
        Optional<Proof.Run> ended = run.filter(one -> one.all().isPresent());
        return new ProofPage(
                CheckpointLine.latest(connection, before.orElse(Long.MAX_VALUE), MOST + 1),
                before,
                LogExtent.of(connection),
                expected(connection, run),
                ended.isPresent()
                        ? Optional.of(LogExtent.since(connection, ended.get().begun()))
                        : Optional.empty(),
                run,
                proof.failed().filter(failed -> !run.equals(Optional.of(failed))),
                proof.isPossible(),
                proof.trusted());
    }

    /** As many as a verification counted, or more if the database by now says so. */
    static long expected(Connection connection, Optional<Proof.Run> run) throws SQLException {
        long estimate = Query.of(ESTIMATE).first(connection, row -> row.getLong("rows")).orElse(0L);
        return Math.max(estimate, run.flatMap(Proof.Run::all).orElse(0L));
    }

    List<CheckpointLine> shown() {
        return checkpoints.size() > MOST ? checkpoints.subList(0, MOST) : checkpoints;
    }

    /** Where the older checkpoints are. */
    Optional<String> older() {
        return checkpoints.size() > MOST
                ? Optional.of("/proof?before=%d#checkpoints".formatted(shown().getLast().number()))
                : Optional.empty();
    }

    /** The checkpoints from here on, as a file. */
    String file() {
        return "/proof/checkpoints" + before.map(number -> "?before=" + number).orElse("");
    }
}
