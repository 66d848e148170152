package io.mintmark.exchange;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Event;
import io.mintmark.audit.Receipt;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.verdict.Unavailable;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** Writes the audit log's rows, and turns a log that can't be written into an answer. */
final class Records {
    private static final Duration SOON = Duration.ofSeconds(5);

    private final AuditLog log;

    Records(AuditLog log) {
        this.log = log;
    }

    /**
     * Commits rows, or else owes the log others.
     *
     * @param otherwise what has become true if these rows can't be written, for as far as they may
     *     have been written all the same
     * @throws Unavailable if the rows could not be committed
     */
    Receipt commit(List<Event> events, Supplier<List<Event>> otherwise) {
        try {
            return log.record(events);
        } catch (StoreUnreachable e) {
            if (e.perhapsCommitted()) {
                log.owe(otherwise.get());
            }
            throw unavailable(e);
        }
    }

    /** Commits outcomes that stay true if they can't be written now: then the log is owed them. */
    void commitOrOwe(List<Event> outcomes) {
        commitOrOwe(outcomes, outcomes);
    }

    /**
     * Commits outcomes.
     *
     * @param otherwise what has become true instead if they can't be written now; should they have
     *     been committed all the same, then they stay
     */
    void commitOrOwe(List<Event> outcomes, List<Event> otherwise) {
        try {
            log.record(outcomes);
        } catch (StoreUnreachable e) {
            log.owe(otherwise);
            throw unavailable(e);
        }
    }

    /** Owes the log these outcomes: nobody waits for them. */
    void owe(List<Event> outcomes) {
        log.owe(outcomes);
    }

    private static Unavailable unavailable(StoreUnreachable cause) {
        return new Unavailable(
                "The audit log can't be written, so nothing is handed out; try again.",
                SOON,
                cause);
    }
}
