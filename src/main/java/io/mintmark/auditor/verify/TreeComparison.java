package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.tree.TreeHash;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;

/**
 * Compares the root that each checkpoint names with the tree over the rows that it sealed. A tree
 * with a missing row can't be computed; whether the row may be missing is for others to judge.
 */
final class TreeComparison {
    private static final int BATCH = 1_000;

    private final LogReader log;
    private final HeadComparison.Differing differing;
    private final List<Position> batch = new ArrayList<>();
    private TreeHash tree = new TreeHash();
    private boolean complete = true;

    /**
     * @param differing takes each checkpoint whose root is another
     */
    TreeComparison(LogReader log, HeadComparison.Differing differing) {
        this.log = log;
        this.differing = differing;
    }

    /** Compares one root. A part of a log lacks rows of earlier checkpoints, which are left out. */
    void compare(Checkpoint checkpoint) {
        checkpoint
                .root()
                .ifPresent(root -> {
                    tree = new TreeHash();
                    complete = true;
                    add(checkpoint.events(), log::eventHashes);
                    add(checkpoint.changes(), log::changeHashes);
                    if (complete && !HexFormat.of().formatHex(tree.root()).equals(root)) {
                        differing.accept(
                                checkpoint.number(), "has the root of a tree over other rows");
                    }
                });
    }

    private void add(
            List<Position> heads, Function<List<Position>, List<@Nullable String>> hashes) {
        for (Position head : heads) {
            for (long at = head.first(); complete && at <= head.at(); at++) {
                batch.add(new Position(head.chain(), at, ""));
                if (batch.size() == BATCH) {
                    read(hashes);
                }
            }
        }
        read(hashes);
    }

    private void read(Function<List<Position>, List<@Nullable String>> hashes) {
        for (String hash : batch.isEmpty() ? List.<@Nullable String>of() : hashes.apply(batch)) {
            if (hash == null) {
                complete = false;
            } else {
                tree.add(HexFormat.of().parseHex(hash));
            }
        }
        batch.clear();
    }
}
