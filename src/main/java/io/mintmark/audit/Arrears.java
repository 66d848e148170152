package io.mintmark.audit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Rows that the log is owed: outcomes that could not be written when they happened. They are kept
 * in memory until the store is back. One whose intent turns out never to have been committed is
 * nothing to record. What is lost with the process shows as unresolved in the log.
 */
final class Arrears {
    private static final Logger log = LoggerFactory.getLogger(Arrears.class);
    private static final int CAPACITY = 10_000;

    private final Queue<Event> owed = new ArrayBlockingQueue<>(CAPACITY);
    private final EventStore store;

    Arrears(EventStore store) {
        this.store = store;
    }

    void add(List<Event> events) {
        for (Event event : events) {
            if (!owed.offer(event)) {
                log.error(
                        "Too many outcomes wait for the audit log; mint {} stays unresolved in it",
                        event.mintId());
            }
        }
    }

    /** Writes what it can, oldest first. */
    void settle() {
        for (Event event = owed.peek(); event != null; event = owed.peek()) {
            if (!written(event)) {
                return;
            }
            owed.poll();
        }
    }

    private boolean written(Event event) {
        try {
            if (store.has(event.mintId())) {
                store.append(List.of(event));
            } else {
                log.debug("The intent of mint {} was never committed", event.mintId());
            }
            return true;
        } catch (EventRefused e) {
            log.warn("The audit log has an outcome of mint {} already", event.mintId());
            return true;
        } catch (StoreUnreachable e) {
            log.debug("The audit log can't be written yet");
            return false;
        } catch (RuntimeException e) {
            log.error("The audit log can't take an outcome of mint {}", event.mintId(), e);
            return true;
        }
    }
}
