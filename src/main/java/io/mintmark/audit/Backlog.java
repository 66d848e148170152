package io.mintmark.audit;

import io.mintmark.base.tenant.MintId;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.stream.Collectors;

/**
 * Outcomes that could not be written when they happened. They stay in memory until the store is
 * back. An outcome whose intent was never committed is dropped. Outcomes that are lost with the
 * process show up as unresolved mints in the log.
 */
final class Backlog {
    /**
     * The maximum number of rows in one commit. Between two commits, rows of new requests are
     * written.
     */
    static final int BATCH = 256;

    private static final Logger log = LoggerFactory.getLogger(Backlog.class);
    private static final int CAPACITY = 10_000;

    private final Queue<Event> waiting = new ArrayBlockingQueue<>(CAPACITY);
    private final WatchedStore store;

    Backlog(WatchedStore store) {
        this.store = store;
    }

    void add(List<Event> outcomes) {
        for (Event outcome : outcomes) {
            if (!waiting.offer(outcome)) {
                log.error(
                        "Too many outcomes are waiting for the audit log, so the outcome '{}' of mint {} was not recorded; audit.unresolved will list the mint",
                        outcome.kind().word(),
                        outcome.mintId());
            }
        }
    }

    /**
     * Writes a batch of the oldest rows. Only the writer's thread calls it.
     *
     * @return whether more rows can be written at once
     */
    boolean writeSome() {
        List<Event> batch = waiting.stream().limit(BATCH).toList();
        try {
            Halving.commit(begun(batch), store::append, this::refused);
        } catch (StoreUnreachable e) {
            log.debug("The audit log can't be written now; the broker keeps retrying", e);
            return false;
        }
        batch.forEach(_ -> waiting.poll());
        return !waiting.isEmpty();
    }

    private List<Event> begun(List<Event> batch) {
        if (batch.isEmpty()) {
            return batch;
        }
        Set<MintId> known =
                store.known(batch.stream().map(Event::mintId).collect(Collectors.toSet()));
        return batch.stream().filter(outcome -> known.contains(outcome.mintId())).toList();
    }

    /**
     * Drop a row that the store rejects for good. If it currently rejects every row, keep the row
     * and retry.
     */
    private void refused(Event row, RuntimeException cause) {
        store.recheck();
        if (store.fault().isPresent()) {
            throw new StoreUnreachable("the audit log can't be written", false, cause);
        }
        log.warn(
                "The audit log rejected the outcome '{}' of mint {}; the mint may already have an outcome",
                row.kind().word(),
                row.mintId(),
                cause);
    }
}
