package io.mintmark.time;

import io.mintmark.thread.BackgroundThread;
import io.mintmark.thread.ThreadName;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What is to happen if something isn't over in time; closed, it doesn't happen any more. One thread
 * looks after all of them, twenty times a second, and so up to 50 ms late.
 *
 * <p>A virtual thread that waits with a time of its own has the JVM set a timer and drop it again,
 * and wake another thread for each; a mint has four such waits.
 */
public final class Timeout implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofMillis(50);
    private static final Set<Timeout> PENDING = ConcurrentHashMap.newKeySet();

    static {
        var _ =
                BackgroundThread.repeating(ThreadName.TIMEOUTS, PERIOD, Timeout::endOverdue)
                        .start();
    }

    private final long end;
    private final Runnable action;

    private Timeout(long end, Runnable action) {
        this.end = end;
        this.action = action;
    }

    /**
     * Begins to run.
     *
     * @param time from now, at once if it isn't positive
     * @param action on a thread of its own; it may still happen while this is being closed
     */
    public static Timeout after(Duration time, Runnable action) {
        var timeout = new Timeout(System.nanoTime() + Math.max(0, time.toNanos()), action);
        PENDING.add(timeout);
        return timeout;
    }

    /** On threads of their own, so that none can hold up or end the others. */
    private static Duration endOverdue() {
        long now = System.nanoTime();
        PENDING.removeIf(each -> each.endsBy(now));
        return PERIOD;
    }

    /** Whether its time is over; then it happens. */
    private boolean endsBy(long now) {
        boolean over = now - end >= 0;
        if (over) {
            Thread.ofVirtual().name("timeout").start(action);
        }
        return over;
    }

    @Override
    public void close() {
        PENDING.remove(this);
    }
}
