package io.mintmark.broker.exchange;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Event;
import io.mintmark.audit.EventRefused;
import io.mintmark.audit.Receipt;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.base.verdict.Unavailable;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** Writes rows to the audit log. If it can't write them, the client gets 503. */
final class Records {
    private static final Duration SOON = Duration.ofSeconds(5);

    private final AuditLog log;

    Records(AuditLog log) {
        this.log = log;
    }

    /**
     * Commits rows. If it can't tell whether they were committed, it queues other rows.
     *
     * @param otherwise the rows to queue, which are true in either case
     * @throws Unavailable if the rows could not be committed
     */
    Receipt commit(List<Event> events, Supplier<List<Event>> otherwise) {
        try {
            return log.record(events);
        } catch (StoreUnreachable e) {
            if (e.perhapsCommitted()) {
                log.recordLater(otherwise.get());
            }
            throw unavailable(e);
        } catch (EventRefused e) {
            throw unavailable(e);
        }
    }

    /** Commits outcomes. If they can't be written now, it queues them, and the client gets 503. */
    void commitOrRecordLater(List<Event> outcomes) {
        commitOrRecordLater(outcomes, outcomes);
    }

    /**
     * Commits outcomes. If they can't be written now, it queues other rows instead.
     *
     * @param otherwise the rows to queue; the log ignores them if the outcomes were committed after
     *     all
     */
    void commitOrRecordLater(List<Event> outcomes, List<Event> otherwise) {
        try {
            log.record(outcomes);
        } catch (StoreUnreachable | EventRefused e) {
            log.recordLater(otherwise);
            throw unavailable(e);
        }
    }

    /** Queues outcomes without waiting. */
    void recordLater(List<Event> outcomes) {
        log.recordLater(outcomes);
    }

    private Unavailable unavailable(RuntimeException cause) {
        return new Unavailable(
                Unavailable.Part.DATABASE,
                log.isLocked()
                        ? "Another database session holds a lock on the audit log, so no credential was returned; try again."
                        : "The audit log can't be written, so no credential was returned; try again.",
                SOON,
                cause);
    }
}
