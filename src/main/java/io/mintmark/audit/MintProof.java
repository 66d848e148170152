package io.mintmark.audit;

import io.mintmark.audit.Checkpoint.Position;

import java.util.List;
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
     * The next event. One that the history doesn't allow is reported.
     *
     * @param isEarly whether it may be the outcome of a mint whose request comes later
     */
    void event(LogReader.Row row, boolean isEarly);

    /**
     * To be called after the last event.
     *
     * @param isOpen whether a mint has no outcome
     */
    void end(Predicate<String> isOpen);

    @Override
    void close();
}
