package io.mintmark.audit.log;

import io.mintmark.audit.checkpoint.LogTree;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.tree.TreeHash;
import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/**
 * The tree over the checkpoints, of which the database keeps the right edge beside the lock on
 * sealing. Reads checkpoints only if the edge isn't that of the last one, as after a forged or
 * removed checkpoint.
 */
final class StoredTree {
    private static final String READ =
            "SELECT tree_number, tree_size, tree_edge, tree_checkpoint FROM work.sealing";

    private static final String NEXT =
            """
            SELECT number, sealed_at, jws, announced_by
              FROM log.checkpoint
             WHERE number > ?
             ORDER BY number
             LIMIT 1000
            """;

    private static final String STORE =
            """
            UPDATE work.sealing
               SET tree_number = ?, tree_size = ?, tree_edge = ?, tree_checkpoint = ?
            """;

    /** The tree up to a checkpoint. */
    private record Grown(LogTree tree, long checkpoint) {
        static final Grown EMPTY = new Grown(new LogTree(), 0);

        static Grown read(ResultSet row) throws SQLException {
            try {
                return new Grown(
                        new LogTree(
                                row.getInt("tree_number"),
                                TreeHash.of(row.getLong("tree_size"), row.getBytes("tree_edge"))),
                        row.getLong("tree_checkpoint"));
            } catch (IllegalArgumentException e) {
                return EMPTY;
            }
        }

        Grown with(SignedCheckpoint next) {
            return new Grown(tree.with(next), next.number());
        }
    }

    private StoredTree() {}

    /**
     * The tree up to the last checkpoint.
     *
     * @param last its number; 0 without any
     */
    static LogTree upTo(Connection connection, long last) throws SQLException {
        Grown stored = Query.of(READ).first(connection, Grown::read).orElse(Grown.EMPTY);
        Grown grown = stored.checkpoint() > last ? Grown.EMPTY : stored;
        while (grown.checkpoint() < last) {
            List<SignedCheckpoint> next =
                    Query.of(NEXT, grown.checkpoint()).list(connection, CheckpointRow::read);
            for (SignedCheckpoint each : next) {
                grown = grown.with(each);
            }
        }
        return grown.tree();
    }

    /** Keeps the tree, whose last leaf is this checkpoint. */
    static void store(Connection connection, LogTree tree, long checkpoint) throws SQLException {
        Query.of(STORE, tree.number(), tree.size(), tree.leaves().packedEdge(), checkpoint)
                .execute(connection);
    }
}
