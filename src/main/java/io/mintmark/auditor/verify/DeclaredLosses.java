package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.Checkpoint.LostEnd;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.auditor.verify.LogReader.StoredCheckpoint;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The rows of {@code audit.event} that declarations excuse. After a restore, a writer may go on in
 * its chain behind the lost rows, so the gap isn't always at a chain's end. What the log had sealed
 * before the loss can't be excused: a restore doesn't lose it.
 */
final class DeclaredLosses {
    /** One end that was declared lost, and how far the log had sealed its chain before the loss. */
    private static final class Loss {
        private final LostEnd end;

        /** The number of the first checkpoint after the loss. */
        private final long since;

        private long sealed;

        Loss(LostEnd end, long since) {
            this.end = end;
            this.since = since;
        }

        void sealed(Checkpoint checkpoint) {
            if (checkpoint.number() < since) {
                checkpoint.events().stream()
                        .filter(head -> head.chain().equals(end.chain()))
                        .forEach(head -> sealed = Math.max(sealed, head.at()));
            }
        }

        Optional<LostEnd> excused() {
            LostEnd rest = new LostEnd(end.chain(), Math.max(end.first(), sealed + 1), end.last());
            return rest.first() <= rest.last() ? Optional.of(rest) : Optional.empty();
        }
    }

    private final List<Loss> losses;

    DeclaredLosses(Declarations declarations) {
        this.losses =
                declarations.all().stream()
                        .flatMap(each ->
                                each.declaration().events().stream()
                                        .map(end -> new Loss(end, each.since())))
                        .toList();
    }

    /** Reads the checkpoints once more, if anything was declared lost. */
    List<LostEnd> excused(Consumer<Consumer<StoredCheckpoint>> checkpoints, TrustedKeys keys) {
        if (!losses.isEmpty()) {
            checkpoints.accept(stored -> sealed(stored.signed(), keys));
        }
        return losses.stream().flatMap(loss -> loss.excused().stream()).toList();
    }

    private void sealed(SignedCheckpoint signed, TrustedKeys keys) {
        try {
            Checkpoint checkpoint = keys.open(signed).checkpoint();
            losses.forEach(loss -> loss.sealed(checkpoint));
        } catch (IllegalArgumentException _) {
            // reported with the others; it seals nothing
        }
    }
}
