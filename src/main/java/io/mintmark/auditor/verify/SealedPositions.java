package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.Checkpoint.Position;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The positions that checkpoints seal in the chains of events and in the changes of each tenant.
 */
final class SealedPositions {
    private final Optional<SealedRange> part;
    private final ComparedRows.Sealing sealing;
    private final SealedHeads events = new SealedHeads();
    private final SealedHeads changes = new SealedHeads();
    private final HeadComparison eventHeads;
    private final HeadComparison changeHeads;

    /**
     * @param rows that the checkpoints seal
     * @param differing takes the checkpoints that sealed something else than the log has
     */
    SealedPositions(ComparedRows rows, HeadComparison.Differing differing) {
        this.part = rows.part();
        this.sealing = rows.sealing();
        this.eventHeads = new HeadComparison("chain ", rows.eventHashes(), differing);
        this.changeHeads =
                new HeadComparison("the changes of tenant ", rows.changeHashes(), differing);
    }

    /**
     * Whether a checkpoint is of the verified part, or the whole log is verified. A part doesn't
     * show which checkpoint before it was the first to seal a change.
     */
    boolean isWithin(long checkpoint) {
        return part.filter(it -> !it.has(checkpoint)).isEmpty();
    }

    /**
     * Takes what a checkpoint sealed.
     *
     * @param since as {@link MintProof#sealed} takes it
     */
    void add(
            long checkpoint,
            List<Position> eventsSealed,
            List<Position> changesSealed,
            Optional<Instant> since) {
        boolean within = isWithin(checkpoint);
        eventsSealed.forEach(within ? events::add : events::addStart);
        changesSealed.forEach(changes::add);
        if (within) {
            eventHeads.add(checkpoint, eventsSealed);
        }
        changeHeads.add(checkpoint, changesSealed);
        sealing.sealed(checkpoint, eventsSealed, changesSealed, since);
    }

    /** Takes the events of months that a checkpoint retired. */
    void retire(Checkpoint checkpoint) {
        checkpoint.retired().forEach(month -> month.parts().forEach(events::add));
    }

    /** Compares the heads with the rows. Call it after the last checkpoint. */
    void compare() {
        eventHeads.compare();
        changeHeads.compare();
    }

    SealedHeads events() {
        return events;
    }

    SealedHeads changes() {
        return changes;
    }
}
