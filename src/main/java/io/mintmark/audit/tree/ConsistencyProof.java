package io.mintmark.audit.tree;

import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/** Proves that a tree begins with the leaves of a smaller one. */
public final class ConsistencyProof {
    private ConsistencyProof() {}

    /** A tree by its size and root. */
    public interface Tree {
        long size();

        byte[] root();
    }

    /**
     * Whether a proof holds (RFC 9162 section 2.1.4.2). Between trees of one size, and from the
     * empty tree, it has no hashes.
     */
    public static boolean holds(Tree first, Tree second, List<byte[]> proof) {
        if (first.size() > second.size()) {
            return false;
        }
        if (first.size() == second.size()) {
            return proof.isEmpty() && MessageDigest.isEqual(first.root(), second.root());
        }
        if (first.size() == 0) {
            return proof.isEmpty();
        }
        List<byte[]> path = new ArrayList<>(proof);
        if (Long.bitCount(first.size()) == 1) {
            path.addFirst(first.root());
        }
        return !path.isEmpty() && leadsToBoth(first, second, path);
    }

    private static boolean leadsToBoth(Tree first, Tree second, List<byte[]> path) {
        int complete = Long.numberOfTrailingZeros(first.size());
        long at = (first.size() - 1) >> complete;
        long last = (second.size() - 1) >> complete;
        byte[] one = path.getFirst();
        byte[] other = one;
        for (byte[] node : path.subList(1, path.size())) {
            if (last == 0) {
                return false;
            }
            if ((at & 1) == 1 || at == last) {
                one = TreeHash.node(node, one);
                other = TreeHash.node(node, other);
                int up = at == 0 ? 0 : Long.numberOfTrailingZeros(at);
                at >>= up;
                last >>= up;
            } else {
                other = TreeHash.node(other, node);
            }
            at >>= 1;
            last >>= 1;
        }
        return last == 0
                && MessageDigest.isEqual(one, first.root())
                && MessageDigest.isEqual(other, second.root());
    }

    /**
     * The proof between two sizes of a tree (RFC 9162 section 2.1.4.1). It has no hashes from the
     * empty tree, and between trees of one size.
     */
    public static List<byte[]> between(long first, long second, Subtrees tree) {
        if (first > second) {
            throw new IllegalArgumentException(
                    "a tree of %d leaves can't grow to %d leaves; the second size must be larger"
                            .formatted(first, second));
        }
        List<byte[]> proof = new ArrayList<>();
        if (first > 0) {
            add(first, 0, second, true, tree, proof);
        }
        return proof;
    }

    /** {@code SUBPROOF} of the RFC, for the leaves from one to another. */
    private static void add(
            long first, long from, long to, boolean known, Subtrees tree, List<byte[]> proof) {
        if (first == to) {
            if (!known) {
                proof.add(tree.root(from, to));
            }
            return;
        }
        long middle = from + Long.highestOneBit(to - from - 1);
        if (first <= middle) {
            add(first, from, middle, known, tree, proof);
            proof.add(tree.root(middle, to));
        } else {
            add(first, middle, to, false, tree, proof);
            proof.add(tree.root(from, middle));
        }
    }
}
