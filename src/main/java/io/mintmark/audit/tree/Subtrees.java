package io.mintmark.audit.tree;

/** A tree's leaves, as the hashes of trees over ranges of them. */
public interface Subtrees {
    /**
     * The hash of the tree over a range of leaves.
     *
     * @param from the first leaf, from 0
     * @param to the leaf after the last, more than {@code from}
     */
    byte[] root(long from, long to);
}
