package io.mintmark.audit.tree;

import io.mintmark.base.canonical.CanonicalForm;

import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/**
 * The hash of a Merkle tree that grows by one leaf at a time (RFC 9162 section 2.1.1). Keeps only
 * the right edge: the roots of the complete subtrees that the leaves fill so far.
 */
public final class TreeHash {
    private static final int HASH_BYTES = 32;

    private final Deque<byte[]> edge = new ArrayDeque<>();
    private long size;

    /**
     * The tree with a known right edge.
     *
     * @param edge as {@link #edge} returns it
     * @throws IllegalArgumentException if a tree of this size has another edge
     */
    public static TreeHash of(long size, List<byte[]> edge) {
        if (size < 0 || edge.size() != Long.bitCount(size)) {
            throw new IllegalArgumentException(
                    "the number of the tree's edge hashes doesn't match its size");
        }
        TreeHash tree = new TreeHash();
        tree.edge.addAll(edge);
        tree.size = size;
        return tree;
    }

    /**
     * The tree with a right edge that was stored.
     *
     * @param edge as {@link #packedEdge} returns it
     * @throws IllegalArgumentException if a tree of this size has another edge
     */
    public static TreeHash of(long size, byte[] edge) {
        List<byte[]> hashes = new ArrayList<>();
        for (int at = 0; at < edge.length; at += HASH_BYTES) {
            hashes.add(Arrays.copyOfRange(edge, at, at + HASH_BYTES));
        }
        return of(size, hashes);
    }

    /** The right edge, one hash after the other, to be stored. */
    public byte[] packedEdge() {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        edge.forEach(packed::writeBytes);
        return packed.toByteArray();
    }

    /** The roots of the complete subtrees, the rightmost first. */
    public List<byte[]> edge() {
        return List.copyOf(edge);
    }

    /** Adds a leaf by its content. */
    public void add(byte[] content) {
        byte[] node = leaf(content);
        for (long full = size; (full & 1) == 1; full >>= 1) {
            node = node(edge.pop(), node);
        }
        edge.push(node);
        size++;
    }

    /** The number of leaves. */
    public long size() {
        return size;
    }

    /** The hash of the tree with the leaves so far. */
    public byte[] root() {
        Iterator<byte[]> nodes = edge.iterator();
        if (!nodes.hasNext()) {
            return CanonicalForm.sha256().digest();
        }
        byte[] root = nodes.next();
        while (nodes.hasNext()) {
            root = node(nodes.next(), root);
        }
        return root;
    }

    /** The hash of a leaf with this content. */
    public static byte[] leaf(byte[] content) {
        MessageDigest sha256 = CanonicalForm.sha256();
        sha256.update((byte) 0);
        return sha256.digest(content);
    }

    /** The hash of the node above two others. */
    public static byte[] node(byte[] left, byte[] right) {
        MessageDigest sha256 = CanonicalForm.sha256();
        sha256.update((byte) 1);
        sha256.update(left);
        return sha256.digest(right);
    }
}
