package io.mintmark.audit;

import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The rows of tokens that were not accepted. They have a queue and a writer of their own, so that a
 * flood of bad tokens delays no mint; what doesn't fit is counted in one row a minute.
 */
public final class Rejections implements AutoCloseable {
    static final int CAPACITY = 1_024;

    /** The {@code reason} of a row that counts what was not written. */
    public static final String OVERFLOW = "overflow";

    private static final Logger log = LoggerFactory.getLogger(Rejections.class);
    private static final int GROUP = 256;
    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** A queue entry without a row, which wakes the writer. */
    private static final Optional<Event> END = Optional.empty();

    private final BlockingQueue<Optional<Event>> queue = new ArrayBlockingQueue<>(CAPACITY);
    private final AtomicLong dropped = new AtomicLong();
    private final WatchedStore store;
    private final MintIds mintIds;
    private final InstantSource clock;
    private final BackgroundThread thread;
    private volatile boolean closed;

    public Rejections(EventStore store, MintIds mintIds, InstantSource clock) {
        this.store = new WatchedStore(store);
        this.mintIds = mintIds;
        this.clock = clock;
        this.thread = BackgroundThread.of(ThreadName.AUDIT_REJECTIONS, this::run);
    }

    public Rejections start() {
        var _ = thread.start();
        return this;
    }

    /** Notes a refused token. Never waits. */
    public void note(Event rejected) {
        if (closed || !queue.offer(Optional.of(rejected))) {
            dropped.incrementAndGet();
        }
    }

    /** Rows that wait for the writer. */
    public int queued() {
        return queue.size();
    }

    /**
     * The reason why rows can't be written, as a sentence for clients; empty while they can be
     * written.
     */
    public Optional<String> fault() {
        return death().or(store::fault);
    }

    /**
     * A sentence for clients if the writer has stopped, which only a restart repairs; empty
     * otherwise.
     */
    public Optional<String> death() {
        return thread.isAlive()
                ? Optional.empty()
                : Optional.of("the writer of rejected tokens has stopped; restart this replica");
    }

    private void run() throws InterruptedException {
        long counted = System.nanoTime();
        while (!closed || !queue.isEmpty()) {
            writeOneGroup();
            if (System.nanoTime() - counted >= MINUTE.toNanos()) {
                counted = System.nanoTime();
                countDropped();
            }
        }
        countDropped();
    }

    private void writeOneGroup() throws InterruptedException {
        Optional<Event> first = queue.poll(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
        if (first == null) {
            store.recheck();
            return;
        }
        List<Optional<Event>> taken = new ArrayList<>(GROUP);
        taken.add(first);
        queue.drainTo(taken, GROUP - 1);
        List<Event> group = taken.stream().flatMap(Optional::stream).toList();
        if (!group.isEmpty() && !append(group)) {
            dropped.addAndGet(group.size());
            TimeUnit.NANOSECONDS.sleep(closed ? 0 : PAUSE.toNanos());
        }
    }

    private void countDropped() {
        long count = dropped.getAndSet(0);
        if (count > 0 && !append(List.of(overflow(count)))) {
            dropped.addAndGet(count);
        }
    }

    private Event overflow(long count) {
        return new Event(
                mintIds.next(),
                Kind.REJECTED,
                clock.instant(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of(OVERFLOW),
                Optional.of(Long.toString(count)),
                Optional.empty(),
                Optional.empty());
    }

    private boolean append(List<Event> group) {
        try {
            Halving.commit(
                    group,
                    store::append,
                    (_, cause) ->
                            log.warn(
                                    "PostgreSQL rejected the audit row of a rejected token, so the log lacks that row",
                                    cause));
            return true;
        } catch (StoreUnreachable e) {
            log.debug("Rejected tokens can't be recorded now; the broker keeps retrying");
            return false;
        }
    }

    /** Accepts no more rows and writes the queued ones. */
    @Override
    public void close() {
        var _ = thread.stop(this::end, PAUSE.multipliedBy(2));
    }

    private void end() {
        closed = true;
        // if it doesn't fit, the writer is awake
        var _ = queue.offer(END);
    }
}
