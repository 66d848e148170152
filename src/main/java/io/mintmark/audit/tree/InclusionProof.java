package io.mintmark.audit.tree;

import java.util.ArrayList;
import java.util.List;

/** Proves that a tree has a leaf, by the nodes beside the way to its root. */
public final class InclusionProof {
    private InclusionProof() {}

    /**
     * The siblings on the way from a leaf to the root (RFC 9162 section 2.1.3.1), that of the leaf
     * first.
     *
     * @param contents of all leaves
     * @param index of the leaf, from 0
     */
    public static List<byte[]> path(List<byte[]> contents, int index) {
        List<byte[]> path = new ArrayList<>();
        List<byte[]> level = contents.stream().map(TreeHash::leaf).toList();
        for (int at = index; level.size() > 1; at /= 2) {
            int beside = at ^ 1;
            if (beside < level.size()) {
                path.add(level.get(beside));
            }
            level = above(level);
        }
        return path;
    }

    /** A node without a sibling moves up as it is. */
    private static List<byte[]> above(List<byte[]> level) {
        List<byte[]> above = new ArrayList<>();
        for (int i = 0; i < level.size(); i += 2) {
            above.add(
                    i + 1 < level.size()
                            ? TreeHash.node(level.get(i), level.get(i + 1))
                            : level.get(i));
        }
        return above;
    }
}
