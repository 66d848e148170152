package io.mintmark.base.time;

import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Runs an action after a time, unless it is closed before. One thread checks all timeouts twenty
 * times a second, so an action runs up to 50 ms late.
 *
 * <p>The reason is cost: for each timed wait of a virtual thread, the JVM sets a timer, cancels it
 * again and wakes another thread. A mint has four such waits.
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
     * Starts a timeout.
     *
     * @param time the time from now until the action; at once if it isn't positive
     * @param action runs on its own thread, possibly while the timeout is being closed
     */
    public static Timeout after(Duration time, Runnable action) {
        var timeout = new Timeout(System.nanoTime() + Math.max(0, time.toNanos()), action);
        PENDING.add(timeout);
        return timeout;
    }

    /** Each action has its own thread, so that none can delay or end the others. */
    private static Duration endOverdue() {
        long now = System.nanoTime();
        PENDING.removeIf(each -> each.endsBy(now));
        return PERIOD;
    }

    /** Runs the action if its time has come. Returns whether it has. */
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
