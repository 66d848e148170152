package io.mintmark.audit.tree;

import java.util.ArrayList;
import java.util.List;

/** Proves that a tree contains a leaf, by the siblings of the nodes on the path to its root. */
public final class InclusionProof {
    private InclusionProof() {}

    /**
     * The siblings on the way from a leaf to the root (RFC 9162 section 2.1.3.1), that of the leaf
     * first.
     *
     * @param index of the leaf, from 0
     * @param size of the tree
     */
    public static List<byte[]> path(Subtrees tree, long index, long size) {
        List<byte[]> path = new ArrayList<>();
        long from = 0;
        long to = size;
        while (to - from > 1) {
            long middle = from + Long.highestOneBit(to - from - 1);
            if (index < middle) {
                path.addFirst(tree.root(middle, to));
                to = middle;
            } else {
                path.addFirst(tree.root(from, middle));
                from = middle;
            }
        }
        return path;
    }

    /**
     * Proves that a leaf is in a tree whose leaves are all in memory.
     *
     * @param contents of all leaves
     */
    public static List<byte[]> path(List<byte[]> contents, int index) {
        return path(
                (from, to) -> {
                    TreeHash tree = new TreeHash();
                    contents.subList((int) from, (int) to).forEach(tree::add);
                    return tree.root();
                },
                index,
                contents.size());
    }
}
