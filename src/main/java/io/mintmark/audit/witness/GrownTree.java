package io.mintmark.audit.witness;

import io.mintmark.audit.log.PostgresWitnesses;
import io.mintmark.audit.log.PostgresWitnesses.Newest;
import io.mintmark.audit.note.Base64Text;
import io.mintmark.audit.note.TreeHead;
import io.mintmark.audit.tree.ConsistencyProof;
import io.mintmark.audit.tree.Subtrees;
import io.mintmark.audit.tree.TreeHash;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A tree that a witness knows, and the newest one, which has grown from it. The proof of that needs
 * the right edge of the first and the leaves since then, and no others.
 */
record GrownTree(PostgresWitnesses store, TreeHash known, Newest newest) implements Subtrees {

    /**
     * The body of {@code add-checkpoint} (c2sp.org/tlog-witness); empty if the leaves since then
     * don't lead from the one tree to the other.
     *
     * @param head of the newest tree, as its note has it
     */
    Optional<String> request(TreeHead head) {
        List<byte[]> proof = ConsistencyProof.between(known.size(), newest.size(), this);
        TreeHead before = new TreeHead(head.origin(), known.size(), Base64Text.of(known.root()));
        return ConsistencyProof.holds(before, head, proof)
                ? Optional.of(
                        proof.stream()
                                .map(hash -> Base64Text.of(hash) + "\n")
                                .collect(
                                        Collectors.joining(
                                                "",
                                                "old %d\n".formatted(known.size()),
                                                "\n" + newest.note())))
                : Optional.empty();
    }

    @Override
    public byte[] root(long from, long to) {
        return to <= known.size() ? complete(from, to) : store.over(newest, from, to).root();
    }

    /**
     * The hash of a complete subtree of the known tree, which is all that a proof needs of that
     * tree.
     */
    private byte[] complete(long from, long to) {
        long start = 0;
        for (byte[] hash : known.edge().reversed()) {
            long leaves = Long.highestOneBit(known.size() - start);
            if (start == from && start + leaves == to) {
                return hash;
            }
            start += leaves;
        }
        throw new IllegalArgumentException(
                "the leaves from %d to %d aren't a complete subtree".formatted(from, to));
    }
}
