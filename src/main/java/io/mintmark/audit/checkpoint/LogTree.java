package io.mintmark.audit.checkpoint;

import io.mintmark.audit.tree.TreeHash;

import java.util.HexFormat;

/**
 * The tree over the log's checkpoints. A tree can't shrink, so a declaration begins the next one,
 * as its first leaf.
 *
 * @param number counts from 1
 * @param leaves the hashes of the checkpoints' JWS
 */
public record LogTree(int number, TreeHash leaves) {
    /** The empty tree of a log without checkpoints. */
    public LogTree() {
        this(1, new TreeHash());
    }

    /** The tree with the next checkpoint. */
    public LogTree with(SignedCheckpoint next) {
        return with(next.hash(), next.unverified().flatMap(Checkpoint::declared).isPresent());
    }

    /**
     * The tree with the next checkpoint.
     *
     * @param hash of its JWS, in hexadecimal digits
     * @param declares whether it has a declaration
     */
    LogTree with(String hash, boolean declares) {
        TreeHash grown = declares ? new TreeHash() : TreeHash.of(leaves.size(), leaves.edge());
        grown.add(HexFormat.of().parseHex(hash));
        return new LogTree(declares ? number + 1 : number, grown);
    }

    /** The number of leaves. */
    public long size() {
        return leaves.size();
    }
}
