package io.mintmark.audit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The audit log as the use case sees it. Requests that come at the same time share a commit: one
 * writer takes what has queued up while the last commit was under way.
 *
 * <p>Nothing is dropped in silence: the queue is bounded, and a full one is an error to whoever
 * wanted to write.
 */
public final class AuditLog implements AutoCloseable {
    /** Submissions that may wait; over it the log counts as not writable. */
    static final int CAPACITY = 4_096;

    /** Submissions in one commit, each of at most ten keys. */
    static final int GROUP = 128;

    private static final Logger log = LoggerFactory.getLogger(AuditLog.class);
    private static final Duration IDLE = Duration.ofSeconds(1);
    private static final Submission END = new Submission(List.of());

    private final BlockingQueue<Submission> queue = new ArrayBlockingQueue<>(CAPACITY);
    private final WatchedStore store;
    private final GroupWriter writer;
    private final Backlog backlog;
    private final Duration patience;
    private final Thread thread;
    private volatile boolean closed;

    /**
     * @param patience how long a request waits for its rows
     */
    public AuditLog(EventStore store, Duration patience) {
        this.store = new WatchedStore(store);
        this.writer = new GroupWriter(this.store);
        this.backlog = new Backlog(this.store);
        this.patience = patience;
        this.thread =
                Thread.ofPlatform()
                        .name("audit-writer")
                        .daemon()
                        .uncaughtExceptionHandler((_, e) -> log.error("The audit writer died", e))
                        .unstarted(this::run);
    }

    /** Starts the writer. */
    public AuditLog start() {
        thread.start();
        return this;
    }

    /**
     * Commits the rows of one request, all or none, and returns when they are on disk.
     *
     * @throws EventRefused see {@link EventStore#append}
     * @throws StoreUnreachable if the rows could not be committed in time
     */
    public Receipt record(List<Event> events) {
        Submission submission = new Submission(events);
        if (closed || !queue.offer(submission)) {
            throw new StoreUnreachable("the audit log's queue is full", false, null);
        }
        return submission.await(patience);
    }

    /**
     * Takes outcomes that are written as soon as the log can be, without anybody waiting. For
     * requests that were refused because the log could not be written.
     */
    public void recordLater(List<Event> outcomes) {
        backlog.add(outcomes);
    }

    /** Why nothing is written, in a sentence for strangers; nothing if rows are being written. */
    public Optional<String> fault() {
        return thread.isAlive()
                ? store.fault()
                : Optional.of("the audit log's writer doesn't run any more");
    }

    /** Submissions that wait for the writer. */
    public int queued() {
        return queue.size();
    }

    private void run() {
        try {
            store.tryOut();
            writeGroups();
        } catch (InterruptedException e) {
            log.error("The audit log's writer was interrupted; no mint is possible any more", e);
        } finally {
            closed = true;
            failTheRest();
        }
    }

    private void writeGroups() throws InterruptedException {
        Duration pause = IDLE;
        boolean last = false;
        while (!last) {
            Submission first = queue.poll(pause.toMillis(), TimeUnit.MILLISECONDS);
            if (first != null) {
                last = write(first);
            }
            // while the log fails, requests that wait don't wait for the backlog too
            boolean possible = first == null ? triedAgain() : store.fault().isEmpty();
            pause = possible && backlog.writeSome() ? Duration.ZERO : IDLE;
        }
        while (backlog.writeSome()) {
            log.debug("Outcomes that waited are written");
        }
    }

    private boolean triedAgain() {
        var _ = store.recheck();
        return true;
    }

    /** Writes what waits, as one group. Returns whether it was the last. */
    private boolean write(Submission first) {
        List<Submission> group = new ArrayList<>(GROUP);
        group.add(first);
        queue.drainTo(group, GROUP - 1);
        boolean last = group.remove(END);
        writer.write(group);
        return last;
    }

    private void failTheRest() {
        List<Submission> late = new ArrayList<>();
        queue.drainTo(late);
        late.forEach(s -> s.failed(new StoreUnreachable("the broker is stopping", false, null)));
    }

    /** Takes no more rows, writes those that wait, and returns when that is done. */
    @Override
    public void close() {
        closed = true;
        try {
            queue.put(END);
            thread.join(patience.plus(IDLE));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
