package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint.Position;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The rows that checkpoints are compared with.
 *
 * @param part the part of a log that they are of; empty for a whole log
 * @param exported whether they are of an export
 * @param eventHashes see {@link LogReader#eventHashes}; null also for a row that isn't read
 * @param changeHashes see {@link LogReader#changeHashes}; null also for a row that isn't read
 * @param sealing takes what each checkpoint seals
 */
record ComparedRows(
        Optional<SealedRange> part,
        boolean exported,
        Function<List<Position>, List<@Nullable String>> eventHashes,
        Function<List<Position>, List<@Nullable String>> changeHashes,
        Sealing sealing) {

    /** Takes what a checkpoint seals; see {@link MintProof#sealed}. */
    interface Sealing {
        void sealed(
                long checkpoint,
                List<Position> events,
                List<Position> changes,
                Optional<Instant> since);
    }

    /** The compared rows of a whole log, for a proof of its mints. */
    static ComparedRows of(LogReader log, MintProof proof) {
        return new ComparedRows(
                log.part(),
                log.tables().isEmpty(),
                log::eventHashes,
                log::changeHashes,
                proof::sealed);
    }

    /** The compared rows of some events of a database. */
    static ComparedRows of(Function<List<Position>, List<@Nullable String>> eventHashes) {
        return new ComparedRows(
                Optional.empty(),
                false,
                eventHashes,
                changes -> Collections.nCopies(changes.size(), null),
                (_, _, _, _) -> {});
    }
}
