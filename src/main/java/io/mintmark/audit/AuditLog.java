package io.mintmark.audit;

import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The audit log as the use case sees it. Concurrent requests share a commit: a single writer takes
 * everything that queued up during the previous commit. The number of requests of one tenant in a
 * commit is limited, so that other tenants' requests don't queue behind them, neither here nor
 * afterwards.
 *
 * <p>Nothing is dropped silently: the queue is bounded, and appending to a full queue fails.
 */
public final class AuditLog implements AutoCloseable {
    /** Submissions that may wait; over it the log counts as not writable. */
    static final int CAPACITY = 4_096;

    /** Submissions in one commit, each of at most ten keys. */
    static final int GROUP = 128;

    private static final Logger log = LoggerFactory.getLogger(AuditLog.class);
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    /** The number of a tenant's new requests that one commit may take for each processor. */
    private static final int EACH_PROCESSOR = 3;

    /**
     * The additional number of a tenant's new requests for each millisecond that a commit takes.
     */
    private static final int EACH_MILLISECOND = 1;

    private static final Duration IDLE = Duration.ofSeconds(1);

    private final SubmissionQueue queue = new SubmissionQueue(CAPACITY);
    private final WatchedStore store;
    private final GroupWriter writer;
    private final Backlog backlog;
    private final Duration timeout;
    private final BackgroundThread thread;
    private Duration lastCommit = Duration.ZERO;

    /**
     * @param timeout how long a request waits for its rows
     */
    public AuditLog(EventStore store, Duration timeout) {
        this.store = new WatchedStore(store);
        this.writer = new GroupWriter(this.store);
        this.backlog = new Backlog(this.store);
        this.timeout = timeout;
        this.thread = BackgroundThread.of(ThreadName.AUDIT_WRITER, this::run);
    }

    public AuditLog start() {
        var _ = thread.start();
        return this;
    }

    /**
     * Commits the rows of one request atomically, and returns when they are on disk.
     *
     * @throws EventRefused see {@link EventStore#append}
     * @throws StoreUnreachable if the rows could not be committed in time
     */
    public Receipt record(List<Event> events) {
        Submission submission = new Submission(events);
        if (!queue.offer(submission)) {
            throw new StoreUnreachable("the audit log's queue is full", false, null);
        }
        return submission.await(timeout);
    }

    /**
     * Queues outcomes and ends to be written as soon as the log can be written; doesn't wait. What
     * comes after the writer has stopped is only logged.
     */
    public void recordLater(List<Event> outcomes) {
        if (thread.isAlive()) {
            backlog.add(outcomes);
        } else {
            outcomes.forEach(row ->
                    log.warn(
                            "The audit log is closed, so the outcome '{}' of mint {} isn't recorded; audit.unresolved will list the mint",
                            row.kind().word(),
                            row.mintId()));
        }
    }

    /**
     * The reason why rows can't be written, as a sentence for clients; empty while they can be
     * written.
     */
    public Optional<String> fault() {
        return death().or(store::fault);
    }

    /** Whether rows can't be written because another database session holds a lock. */
    public boolean isLocked() {
        return store.isLocked();
    }

    /**
     * A sentence for clients if the writer has stopped, which only a restart repairs; empty
     * otherwise.
     */
    public Optional<String> death() {
        return thread.isAlive()
                ? Optional.empty()
                : Optional.of("the audit log's writer has stopped; restart this replica");
    }

    /**
     * A sentence for clients while nothing may be minted because confirmed rows were lost; empty
     * otherwise.
     */
    public Optional<String> loss() {
        return store.loss();
    }

    /** Submissions that wait for the writer. */
    public int queued() {
        return queue.size();
    }

    private void run() throws InterruptedException {
        try {
            store.tryOut();
            writeGroups();
        } finally {
            queue.close();
            failTheRest();
        }
    }

    private void writeGroups() throws InterruptedException {
        Duration pause = IDLE;
        while (!queue.isOver()) {
            List<Submission> group = queue.take(GROUP, ofOneTenant(lastCommit), pause);
            if (!group.isEmpty()) {
                write(group);
            }
            // while the log fails, requests that wait don't wait for the backlog too
            boolean possible = group.isEmpty() ? triedAgain() : store.fault().isEmpty();
            pause = possible && backlog.writeSome() ? Duration.ZERO : IDLE;
        }
        while (backlog.writeSome()) {
            log.debug("Delayed outcomes were written to the audit log");
        }
    }

    private boolean triedAgain() {
        store.recheck();
        return true;
    }

    private void write(List<Submission> group) {
        long began = System.nanoTime();
        writer.write(group);
        lastCommit = Duration.ofNanos(System.nanoTime() - began);
    }

    /**
     * The maximum number of one tenant's new requests in a commit: as many as the processors can
     * handle during the next commit, and more while commits are slow. A single tenant can thus
     * start a thousand requests a second as long as a commit takes less than 60 ms. Half of each
     * commit is reserved for other tenants.
     */
    static int ofOneTenant(Duration lastCommit) {
        long share = (long) EACH_PROCESSOR * PROCESSORS + EACH_MILLISECOND * lastCommit.toMillis();
        return (int) Math.min(GROUP / 2, share);
    }

    private void failTheRest() {
        queue.drain()
                .forEach(late ->
                        late.failed(new StoreUnreachable("the broker is stopping", false, null)));
    }

    /** Accepts no more rows, writes the queued ones, and returns when that is done. */
    @Override
    public void close() {
        var _ = thread.stop(queue::close, timeout.plus(IDLE));
    }
}
