package io.mintmark.time;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
    private static final Logger log = LoggerFactory.getLogger(Timeout.class);
    private static final Duration PERIOD = Duration.ofMillis(50);
    private static final Set<Timeout> PENDING = ConcurrentHashMap.newKeySet();

    static {
        Thread.ofPlatform().daemon().name("timeouts").start(Timeout::watch);
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

    private static void watch() {
        while (true) {
            try {
                Thread.sleep(PERIOD);
            } catch (InterruptedException e) {
                log.warn("The timeouts' thread was interrupted; they are kept all the same");
            }
            endOverdue();
        }
    }

    /** On threads of their own, so that none can hold up or end the others. */
    private static void endOverdue() {
        long now = System.nanoTime();
        PENDING.removeIf(each -> each.endsBy(now));
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
