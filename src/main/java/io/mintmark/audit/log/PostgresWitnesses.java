package io.mintmark.audit.log;

import io.helidon.dbclient.DbRow;
import io.mintmark.audit.tree.TreeHash;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The newest note, what witnesses signed, and whose turn it is to ask them. Methods throw {@link
 * io.mintmark.base.sql.QueryFailed}.
 */
public final class PostgresWitnesses {
    private static final int BATCH = 5_000;

    private static final String CLAIM =
            """
            UPDATE work.sealing SET witnesses_asked_at = clock_timestamp()
             WHERE coalesce(witnesses_asked_at <= clock_timestamp() - interval '1 minute', true)
            """;

    private static final String NEWEST =
            """
            SELECT s.tree_number, s.tree_size, encode(s.tree_edge, 'hex') AS edge, c.number, c.note
              FROM work.sealing AS s
              JOIN log.checkpoint AS c ON c.number = s.tree_checkpoint
             WHERE c.note IS NOT NULL
            """;

    private static final String LAST =
            """
            SELECT w.size, encode(w.edge, 'hex') AS edge
              FROM work.witness AS w
             WHERE w.witness = ? AND w.tree = ?
            """;

    private static final String LEAVES =
            """
            SELECT encode(sha256(convert_to(c.jws, 'UTF8')), 'hex') AS leaf
              FROM log.checkpoint AS c
             WHERE c.number BETWEEN ? AND ?
             ORDER BY c.number
            """;

    private static final String STORE =
            """
            INSERT INTO log.cosignature (tree, size, witness, line) VALUES (?, ?, ?, ?)
                ON CONFLICT (tree, size, witness) DO NOTHING
            """;

    private static final String REMEMBER =
            """
            INSERT INTO work.witness (witness, tree, size, edge)
            VALUES (?, ?, ?, decode(?, 'hex'))
                ON CONFLICT (witness) DO UPDATE
               SET tree = excluded.tree, size = excluded.size, edge = excluded.edge
            """;

    private static final String WITNESSED =
            """
            UPDATE work.sealing AS s SET witnessed_at = greatest(s.witnessed_at, c.sealed_at)
              FROM log.checkpoint AS c
             WHERE c.number = ?
            """;

    private final Queries queries;

    /**
     * The newest checkpoint that has a note.
     *
     * @param tree its number
     * @param leaves of the tree
     * @param checkpoint its number
     */
    public record Newest(long tree, TreeHash leaves, long checkpoint, String note) {
        public long size() {
            return leaves.size();
        }

        /** The number of the checkpoint before the tree's first leaf. */
        private long before() {
            return checkpoint - size();
        }
    }

    public PostgresWitnesses(Database database) {
        this.queries = database.reading();
    }

    /** Whether this replica is to ask all witnesses now; one of all replicas is, once a minute. */
    public boolean claim() {
        return queries.change(CLAIM, List.of()) > 0;
    }

    /** The head that witnesses should cosign next; empty if the newest checkpoint has no note. */
    public Optional<Newest> newest() {
        return queries
                .query(
                        NEWEST,
                        Map.of(),
                        row ->
                                new Newest(
                                        row.column("tree_number").get(Integer.class),
                                        tree(row.column("tree_size").get(Long.class), row),
                                        row.column("number").get(Long.class),
                                        row.column("note").get(String.class)))
                .stream()
                .findFirst();
    }

    /**
     * The last tree of this number that a witness cosigned.
     *
     * @param witness the name of its key
     */
    public Optional<TreeHash> last(String witness, long tree) {
        return queries
                .query(
                        LAST,
                        List.of(witness, tree),
                        row -> tree(row.column("size").get(Long.class), row))
                .stream()
                .findFirst();
    }

    private static TreeHash tree(long size, DbRow row) {
        return TreeHash.of(size, HexFormat.of().parseHex(row.column("edge").get(String.class)));
    }

    /** The tree over some leaves of the newest one. Reads a bounded number with each statement. */
    public TreeHash over(Newest newest, long from, long to) {
        TreeHash tree = new TreeHash();
        for (long first = from; first < to; first += BATCH) {
            long last = Math.min(to, first + BATCH);
            queries.query(
                            LEAVES,
                            List.of(newest.before() + first + 1, newest.before() + last),
                            row -> row.column("leaf").get(String.class))
                    .forEach(leaf -> tree.add(HexFormat.of().parseHex(leaf)));
        }
        return tree;
    }

    /**
     * A witness has cosigned this note.
     *
     * @param witness the name of its key
     * @param line of the note, without its newline
     */
    public void store(Newest newest, String witness, String line) {
        var _ = queries.change(STORE, List.of(newest.tree(), newest.size(), witness, line));
        String edge = HexFormat.of().formatHex(newest.leaves().packedEdge());
        var _ = queries.change(REMEMBER, List.of(witness, newest.tree(), newest.size(), edge));
    }

    /** A quorum has cosigned this note. */
    public void witnessed(Newest newest) {
        var _ = queries.change(WITNESSED, List.of(newest.checkpoint()));
    }
}
