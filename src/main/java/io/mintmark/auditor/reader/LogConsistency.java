package io.mintmark.auditor.reader;

import io.mintmark.audit.log.AuditConnection;
import io.mintmark.audit.tree.ConsistencyProof;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;

import java.util.List;
import java.util.Optional;

/** Proves that the newest tree of checkpoints only grew. */
public final class LogConsistency implements AutoCloseable {
    private static final String TREE = "SELECT tree_size, tree_checkpoint FROM runtime.sealing";
    private static final String NOTE = "SELECT note FROM audit.checkpoint WHERE number = ?";
    private final AuditConnection connection;
    private final CheckpointTrees trees;
    private final long size;
    private final long start;

    private record Tree(long size, long checkpoint) {}

    /** Opens a connection of its own. */
    public LogConsistency(DatabaseLogin login) {
        this.connection = new AuditConnection(login, "");
        this.trees = new CheckpointTrees(connection);
        Tree tree =
                connection
                        .list(
                                Query.of(TREE),
                                row ->
                                        new Tree(
                                                row.getLong("tree_size"),
                                                row.getLong("tree_checkpoint")))
                        .getFirst();
        this.size = tree.size();
        this.start = tree.checkpoint() - tree.size();
    }

    /** The number of checkpoints in the newest tree. */
    public long size() {
        return size;
    }

    /** The hashes of the proof between two sizes of the newest tree, in base64. */
    public List<String> proof(long from, long to) {
        return CheckpointTrees.texts(
                ConsistencyProof.between(from, to, (one, other) -> trees.root(start, one, other)));
    }

    /** The note about this size of the newest tree, if its checkpoint has one. */
    public Optional<String> note(long of) {
        return connection.list(Query.of(NOTE, start + of), row -> Query.text(row, "note")).stream()
                .flatMap(Optional::stream)
                .findFirst();
    }

    @Override
    public void close() {
        connection.close();
    }
}
