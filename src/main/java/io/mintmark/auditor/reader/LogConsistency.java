package io.mintmark.auditor.reader;

import io.mintmark.audit.log.AuditConnection;
import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.tree.ConsistencyProof;
import io.mintmark.audit.tree.InclusionProof;
import io.mintmark.audit.tree.TreeHash;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;

import java.util.List;
import java.util.Optional;

/** Proofs about the trees of checkpoints: what they contain, and that the newest only grew. */
public final class LogConsistency implements AutoCloseable {
    private static final String TREE = "SELECT tree_size, tree_checkpoint FROM runtime.sealing";
    private static final String NOTE = "SELECT note FROM audit.checkpoint WHERE number = ?";
    private static final String LEAVES =
            """
            SELECT sha256(convert_to(jws, 'UTF8')) AS leaf
              FROM audit.checkpoint
             WHERE number BETWEEN ? AND ?
             ORDER BY number
            """;

    private final AuditConnection connection;
    private final long size;
    private final long start;

    private record Tree(long size, long checkpoint) {}

    /** Opens a connection of its own. */
    public LogConsistency(DatabaseLogin login) {
        this.connection = new AuditConnection(login, "");
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

    /** How many checkpoints the newest tree has. */
    public long size() {
        return size;
    }

    /** The hashes of the proof between two sizes of the newest tree, in base64. */
    public List<String> proof(long from, long to) {
        return texts(ConsistencyProof.between(from, to, (one, other) -> root(start, one, other)));
    }

    /**
     * The way from a leaf to the root of a tree, in base64.
     *
     * @param before the number of the checkpoint before the tree's first leaf
     * @param leaf its index, from 0
     * @param of how many leaves the tree has
     */
    List<String> path(long before, long leaf, long of) {
        return texts(InclusionProof.path((one, other) -> root(before, one, other), leaf, of));
    }

    private static List<String> texts(List<byte[]> hashes) {
        return hashes.stream().map(Base64Text::of).toList();
    }

    private byte[] root(long before, long from, long to) {
        TreeHash tree = new TreeHash();
        connection.each(
                Query.of(LEAVES, before + from + 1, before + to),
                row -> tree.add(row.getBytes("leaf")));
        return tree.root();
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
