package io.mintmark.audit;

import io.mintmark.thread.BackgroundThread;
import io.mintmark.thread.ThreadName;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The audit log as the use case sees it. Requests that come at the same time share a commit: one
 * writer takes what has queued up while the last commit was under way. Of one tenant only so many
 * requests begin with a commit, so that the others' neither queue behind them here nor behind what
 * they do next.
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
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    /** Requests of a tenant that begin with one commit. */
    private static final int EACH_PROCESSOR = 3;

    /** The same, for each millisecond that commits take. */
    private static final int EACH_MILLISECOND = 1;

    private static final Duration IDLE = Duration.ofSeconds(1);

    private final SubmissionQueue queue = new SubmissionQueue(CAPACITY);
    private final WatchedStore store;
    private final GroupWriter writer;
    private final Backlog backlog;
    private final Duration patience;
    private final BackgroundThread thread;
    private Duration lastCommit = Duration.ZERO;

    /**
     * @param patience how long a request waits for its rows
     */
    public AuditLog(EventStore store, Duration patience) {
        this.store = new WatchedStore(store);
        this.writer = new GroupWriter(this.store);
        this.backlog = new Backlog(this.store);
        this.patience = patience;
        this.thread = BackgroundThread.of(ThreadName.AUDIT_WRITER, this::run);
    }

    /** Starts the writer. */
    public AuditLog start() {
        var _ = thread.start();
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
        if (!queue.offer(submission)) {
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
        return death().or(store::fault);
    }

    /** That the writer doesn't run, which only a restart mends, in a sentence for strangers. */
    public Optional<String> death() {
        return thread.isAlive()
                ? Optional.empty()
                : Optional.of("the audit log's writer has stopped");
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
            log.debug("Delayed outcomes are written");
        }
    }

    private boolean triedAgain() {
        var _ = store.recheck();
        return true;
    }

    private void write(List<Submission> group) {
        long began = System.nanoTime();
        writer.write(group);
        lastCommit = Duration.ofNanos(System.nanoTime() - began);
    }

    /**
     * How many requests of one tenant begin with one commit: as many as the processors can work on
     * while the next commit is under way, and more where commits take long, so that a tenant by
     * itself can begin a thousand a second as long as they take less than 60 ms. Half of a group is
     * always the others'.
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

    /** Takes no more rows, writes those that wait, and returns when that is done. */
    @Override
    public void close() {
        var _ = thread.stop(queue::close, patience.plus(IDLE));
    }
}
