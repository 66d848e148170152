package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint.Position;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Compares the heads that checkpoints sealed with the rows that the log has at these places, many
 * at a time, so that a log of years needs no more memory than one of days.
 */
final class HeadComparison {
    private static final int BATCH = 1_000;

    private final String what;
    private final Function<List<Position>, List<@Nullable String>> hashes;
    private final Differing differing;
    private final List<Sealed> batch = new ArrayList<>();

    private record Sealed(long checkpoint, Position head) {}

    /** Takes a checkpoint that sealed something else than the log has. */
    interface Differing {
        void accept(long checkpoint, String predicate);
    }

    /**
     * @param what the kind of chain, for sentences
     * @param hashes the hashes at places of the log; null: the log has no such row
     */
    HeadComparison(
            String what,
            Function<List<Position>, List<@Nullable String>> hashes,
            Differing differing) {
        this.what = what;
        this.hashes = hashes;
        this.differing = differing;
    }

    void add(long checkpoint, List<Position> heads) {
        heads.forEach(head -> batch.add(new Sealed(checkpoint, head)));
        if (batch.size() >= BATCH) {
            compare();
        }
    }

    /** Looks up and compares the remaining heads. Call this after the last one. */
    void compare() {
        List<@Nullable String> stored = hashes.apply(batch.stream().map(Sealed::head).toList());
        for (int i = 0; i < batch.size(); i++) {
            Position head = batch.get(i).head();
            String hash = stored.get(i);
            if (hash != null && !hash.equals(head.hash())) {
                differing.accept(
                        batch.get(i).checkpoint(),
                        "sealed a different hash for row %d of %s%s"
                                .formatted(head.at(), what, head.chain().orElse("(none)")));
            }
        }
        batch.clear();
    }
}
