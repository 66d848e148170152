package io.mintmark.audit;

import io.mintmark.audit.Checkpoint.Position;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

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
     */
    void sealed(long checkpoint, List<Position> events, List<Position> changes);

    /** The next change, by tenant and revision. */
    void change(LogReader.Row row);

    /**
     * To be called after the last change. Each change that doesn't start from its row as the change
     * before left it is reported.
     */
    void endOfChanges();

    /**
     * Why a mint wasn't granted.
     *
     * @param why a sentence without its end
     * @param ofState whether the row names a state that wasn't in force, as it does for a moment
     *     while the configuration changes
     */
    record Objection(String why, boolean ofState) {}

    /**
     * Why the history doesn't allow an event; none if it does. May be asked on any thread, after
     * the last change.
     */
    Optional<Objection> objection(LogReader.Row row);

    /**
     * The next event. One that the history doesn't allow is reported.
     *
     * @param objection to the event
     * @param isEarly whether it may be the outcome of a mint whose request comes later
     */
    void event(LogReader.Row row, Optional<Objection> objection, boolean isEarly);

    /**
     * To be called after the last event.
     *
     * @param isOpen whether a mint has no outcome
     */
    void end(Predicate<String> isOpen);

    @Override
    void close();
}
