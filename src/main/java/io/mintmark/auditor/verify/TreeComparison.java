package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.Checkpoint.Leaf;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.tree.TreeHash;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Compares the root that each checkpoint names with the tree over the rows that it sealed. A tree
 * with a missing row can't be computed; whether the row may be missing is for others to judge.
 *
 * <p>Rows are looked up a few thousand at a time, in the order of the trees.
 */
final class TreeComparison {
    private static final int BATCH = 5_000;

    private static final Pattern MICROS = Pattern.compile("-?[0-9]{1,17}");

    private final LogReader log;
    private final HeadComparison.Differing differing;
    private final List<Step> batch = new ArrayList<>();
    private long rows;
    private TreeHash tree = new TreeHash();
    private boolean complete = true;
    private long latest;

    private sealed interface Step {
        /** Adds rows of a chain to the tree. */
        record Rows(boolean event, Position range) implements Step {}

        /** Compares the tree, and begins the next one. */
        record Root(long checkpoint, String root) implements Step {}

        /** Compares the latest time of the rows so far. */
        record Cosigned(long checkpoint, Instant at) implements Step {}
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

    /** A cosignature of the last checkpoint, which can't be older than what is sealed. */
    void cosigned(long checkpoint, Instant at) {
        add(new Step.Cosigned(checkpoint, at), 1);
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

    /** Looks up the remaining rows. Call this after the last checkpoint. */
    void compare() {
        Iterator<List<Leaf>> events = log.eventRanges(ranges(true)).iterator();
        Iterator<List<Leaf>> changes = log.changeRanges(ranges(false)).iterator();
        for (Step step : batch) {
            switch (step) {
                case Step.Rows some -> grow(some.range(), (some.event() ? events : changes).next());
                case Step.Root root -> compare(root);
                case Step.Cosigned cosigned -> compare(cosigned);
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

    private void grow(Position range, List<Leaf> leaves) {
        complete &= leaves.size() == range.rows();
        for (Leaf leaf : leaves) {
            tree.add(HexFormat.of().parseHex(leaf.hash()));
            if (MICROS.matcher(leaf.micros()).matches()) {
                latest = Math.max(latest, Long.parseLong(leaf.micros()));
            }
        }
    }

    private void compare(Step.Cosigned cosigned) {
        Instant time = Instant.EPOCH.plus(latest, ChronoUnit.MICROS);
        if (time.isAfter(cosigned.at().plus(WitnessedLog.CLOCKS))) {
            differing.accept(
                    cosigned.checkpoint(),
                    "was cosigned at %s, although it or an earlier checkpoint seals a row of %s"
                            .formatted(cosigned.at(), time));
            latest = 0; // later cosignatures of the same row aren't reported too
        }
    }

    private void compare(Step.Root expected) {
        if (complete && !HexFormat.of().formatHex(tree.root()).equals(expected.root())) {
            differing.accept(
                    expected.checkpoint(),
                    "has a tree root that does not match the rows that it sealed");
        }
        tree = new TreeHash();
        complete = true;
    }
}
