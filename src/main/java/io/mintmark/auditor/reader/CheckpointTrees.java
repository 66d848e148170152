package io.mintmark.auditor.reader;

import io.mintmark.audit.log.AuditConnection;
import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.TreeHead;
import io.mintmark.audit.tree.InclusionProof;
import io.mintmark.audit.tree.TreeHash;
import io.mintmark.base.sql.Query;

import java.util.List;
import java.util.Optional;

/** The trees of checkpoints: what they contain, and what witnesses cosigned of them. */
final class CheckpointTrees {
    /**
     * Finds the first cosigned notes of a tree, selects the one that most witnesses cosigned, and
     * appends the witnesses' lines.
     */
    private static final String COSIGNED =
            """
            SELECT c.note || string_agg(s.line || chr(10), '' ORDER BY s.witness) AS note
              FROM audit.cosignature AS s
              JOIN audit.checkpoint AS c ON c.number = ? + s.size
             WHERE s.tree = ?
               AND s.size = (SELECT near.size
                               FROM (SELECT n.size FROM audit.cosignature AS n
                                      WHERE n.tree = ? AND n.size >= ?
                                      ORDER BY n.size LIMIT 1000) AS near
                              GROUP BY near.size ORDER BY count(*) DESC, near.size LIMIT 1)
             GROUP BY c.note
            """;

    private static final String LEAVES =
            """
            SELECT sha256(convert_to(jws, 'UTF8')) AS leaf
              FROM audit.checkpoint
             WHERE number BETWEEN ? AND ?
             ORDER BY number
            """;

    private final AuditConnection connection;

    CheckpointTrees(AuditConnection connection) {
        this.connection = connection;
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

    static List<String> texts(List<byte[]> hashes) {
        return hashes.stream().map(Base64Text::of).toList();
    }

    /** The root of a tree over leaves, from one up to another. */
    byte[] root(long before, long from, long to) {
        TreeHash tree = new TreeHash();
        connection.each(
                Query.of(LEAVES, before + from + 1, before + to),
                row -> tree.add(row.getBytes("leaf")));
        return tree.root();
    }

    /**
     * The note about a tree or a larger one, signed by witnesses too; empty if they cosigned none.
     *
     * @param before the number of the checkpoint before the tree's first leaf
     */
    Optional<String> cosigned(long before, TreeHead head) {
        return connection
                .list(
                        Query.of(COSIGNED, before, head.tree(), head.tree(), head.size()),
                        row -> Query.text(row, "note"))
                .stream()
                .flatMap(Optional::stream)
                .findFirst();
    }
}
