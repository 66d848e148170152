package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.tree.TreeHash;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Compares the root that each checkpoint names with the tree over the rows that it sealed. A tree
 * with a missing row can't be computed; whether the row may be missing is for others to judge.
 *
 * <p>Rows are looked up a few thousand at a time, in the order of the trees.
 */
final class TreeComparison {
    private static final int BATCH = 5_000;

    private final LogReader log;
    private final HeadComparison.Differing differing;
    private final List<Step> batch = new ArrayList<>();
    private long rows;
    private TreeHash tree = new TreeHash();
    private boolean complete = true;

    private sealed interface Step {
        /** Adds rows of a chain to the tree. */
        record Rows(boolean event, Position range) implements Step {}

        /** Compares the tree, and begins the next one. */
        record Root(long checkpoint, String root) implements Step {}
    }

    /**
     * @param differing takes each checkpoint whose root is another
     */
    TreeComparison(LogReader log, HeadComparison.Differing differing) {
        this.log = log;
        this.differing = differing;
    }

    /** The next checkpoint. A part of a log lacks rows of earlier ones, which are left out. */
    void add(Checkpoint checkpoint) {
        Optional<String> root = checkpoint.root();
        if (root.isPresent()) {
            checkpoint.events().forEach(head -> add(true, head));
            checkpoint.changes().forEach(head -> add(false, head));
            add(new Step.Root(checkpoint.number(), root.get()), 1);
        }
    }

    private void add(boolean event, Position head) {
        long first = head.first();
        while (first <= head.at()) {
            long last = head.at() - first < BATCH ? head.at() : first + BATCH - 1;
            add(
                    new Step.Rows(event, new Position(head.chain(), first, last, "")),
                    last - first + 1);
            if (!complete) {
                return;
            }
            first = last + 1;
        }
    }

    private void add(Step step, long size) {
        batch.add(step);
        rows += size;
        if (rows >= BATCH) {
            compare();
        }
    }

    /** Looks up what hasn't been yet; to be called after the last checkpoint. */
    void compare() {
        Iterator<List<String>> events = log.eventRanges(ranges(true)).iterator();
        Iterator<List<String>> changes = log.changeRanges(ranges(false)).iterator();
        for (Step step : batch) {
            switch (step) {
                case Step.Rows some -> grow(some.range(), (some.event() ? events : changes).next());
                case Step.Root root -> compare(root);
            }
        }
        batch.clear();
        rows = 0;
    }

    private List<Position> ranges(boolean event) {
        List<Position> ranges = new ArrayList<>();
        for (Step step : batch) {
            if (step instanceof Step.Rows some && some.event() == event) {
                ranges.add(some.range());
            }
        }
        return ranges;
    }

    private void grow(Position range, List<String> hashes) {
        complete &= hashes.size() == range.rows();
        hashes.forEach(hash -> tree.add(HexFormat.of().parseHex(hash)));
    }

    private void compare(Step.Root expected) {
        if (complete && !HexFormat.of().formatHex(tree.root()).equals(expected.root())) {
            differing.accept(expected.checkpoint(), "has the root of a tree over other rows");
        }
        tree = new TreeHash();
        complete = true;
    }
}
