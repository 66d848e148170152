package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint.Position;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Proves of each mint that the history of the configuration allowed it, without asking the tables.
 * Takes first what was sealed, then the changes, then the events.
 */
public interface MintProof extends AutoCloseable {

    /**
     * What a checkpoint that holds has sealed, less what was declared lost.
     *
     * @param events heads of chains of {@code audit.event}
     * @param changes heads of chains of {@code audit.config_change}
     * @param since when what it is the first to seal wasn't committed yet; empty if unknown
     */
    void sealed(
            long checkpoint,
            List<Position> events,
            List<Position> changes,
            Optional<Instant> since);

    /**
     * Parses a change, on any thread and in any order. Run what it returns change by change, by
     * tenant and revision.
     */
    Runnable change(LogReader.Row row);

    /**
     * Reports each change that doesn't start from its row as the previous change left it, and each
     * that was sealed late. Call this after the last change.
     */
    void endOfChanges();

    /**
     * Why a mint wasn't granted.
     *
     * @param why a sentence without its end
     * @param ofState whether the row names a state that wasn't in force, as it does for a moment
     *     while the configuration changes
     * @param overlooked the hash of a change that the broker perhaps should have seen; with it, the
     *     mint is only doubtful
     */
    record Objection(String why, boolean ofState, Optional<String> overlooked) {}

    /**
     * The reason why the history doesn't allow an event; empty if it does. May be called on any
     * thread, after the last change.
     */
    Optional<Objection> objection(LogReader.Row row);

    @Override
    void close();
}
