package io.mintmark.base.thread;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * A thread that must run until it is stopped. If it ends before that, by a return, an exception or
 * an {@link Error}, it is dead: that is logged, and it is never restarted, because the state that
 * it left is unknown. Liveness fails with its name until the process is restarted. After an {@link
 * OutOfMemoryError} the process is halted, because other threads may be damaged too.
 *
 * <p>The list of threads is shared by the process. A death is detected by asking the threads, so it
 * shows even if the dying thread could not report it.
 */
public final class BackgroundThread {
    private static final Logger log = LoggerFactory.getLogger(BackgroundThread.class);
    private static final Set<BackgroundThread> STARTED = ConcurrentHashMap.newKeySet();

    /** The exit status that {@code -XX:+ExitOnOutOfMemoryError} has. */
    private static final int OUT_OF_MEMORY = 3;

    private static final long PAUSED = Long.MIN_VALUE;

    private final ThreadName name;
    private final Thread thread;
    private final CountDownLatch stopped;
    private final BooleanSupplier mayEnd;

    /** The start of the current round of a repeating thread; {@link #PAUSED} between rounds. */
    private final AtomicLong round;

    /** The work of a thread, which ends when the thread is stopped. */
    @FunctionalInterface
    public interface Work {
        void run() throws InterruptedException;
    }

    /** One round of a thread's repeated work. */
    @FunctionalInterface
    public interface Round {
        /** Runs once, and returns the pause until the next run. */
        Duration run() throws InterruptedException;
    }

    private BackgroundThread(
            ThreadName name,
            Work work,
            CountDownLatch stopped,
            BooleanSupplier mayEnd,
            AtomicLong round) {
        this.name = name;
        this.round = round;
        this.stopped = stopped;
        this.mayEnd = mayEnd;
        this.thread = Thread.ofPlatform().daemon().name(name.toString()).unstarted(() -> run(work));
    }

    /**
     * A thread that is not started yet.
     *
     * @param work returns only after {@link #stop}
     */
    public static BackgroundThread of(ThreadName name, Work work) {
        CountDownLatch stopped = new CountDownLatch(1);
        return new BackgroundThread(
                name, work, stopped, () -> stopped.getCount() == 0, new AtomicLong(PAUSED));
    }

    /**
     * A thread that isn't started yet, and that ends with the round during which it is stopped.
     *
     * @param first the pause before the first round
     */
    public static BackgroundThread repeating(ThreadName name, Duration first, Round round) {
        CountDownLatch stopped = new CountDownLatch(1);
        AtomicLong began = new AtomicLong(PAUSED);
        return new BackgroundThread(
                name,
                () -> repeat(first, round, stopped, began),
                stopped,
                () -> stopped.getCount() == 0,
                began);
    }

    private static void repeat(
            Duration first, Round round, CountDownLatch stopped, AtomicLong began)
            throws InterruptedException {
        Duration pause = first;
        while (!stopped.await(pause.toNanos(), TimeUnit.NANOSECONDS)) {
            began.set(System.nanoTime());
            pause = round.run();
            began.set(PAUSED);
        }
    }

    /** An executor with one such thread, started, for libraries that want one. */
    public static ScheduledExecutorService executor(ThreadName name) {
        var executor = new ScheduledThreadPoolExecutor(1);
        executor.setThreadFactory(worker -> worker(name, worker, executor::isShutdown).thread);
        executor.setRemoveOnCancelPolicy(true); // most tasks are time-outs that never run
        executor.prestartAllCoreThreads();
        return executor;
    }

    /** A worker thread, which its executor starts, and stops by shutting down. */
    private static BackgroundThread worker(ThreadName name, Runnable work, BooleanSupplier mayEnd) {
        var worker =
                new BackgroundThread(
                        name, work::run, new CountDownLatch(1), mayEnd, new AtomicLong(PAUSED));
        STARTED.add(worker);
        return worker;
    }

    /** Starts it; to be called once. */
    public BackgroundThread start() {
        STARTED.add(this);
        thread.start();
        return this;
    }

    /** Whether the thread has been started and hasn't ended. */
    public boolean isAlive() {
        return thread.isAlive();
    }

    /** Signals the thread to end, without waiting. */
    public void stop() {
        var _ = stop(() -> {}, Duration.ZERO);
    }

    /** Stops it and waits. Returns whether it has ended in time. */
    public boolean stop(Duration timeout) {
        return stop(() -> {}, timeout);
    }

    /**
     * Has it end, and waits for that.
     *
     * @param signal makes its work return
     * @return whether it has ended in time
     */
    public boolean stop(Runnable signal, Duration timeout) {
        stopped.countDown();
        signal.run();
        try {
            if (timeout.isPositive()) {
                thread.join(Math.max(1, timeout.toMillis()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        boolean ended = !thread.isAlive();
        if (ended) {
            STARTED.remove(this);
        }
        return ended;
    }

    /** The reason why threads of this name have failed; empty if none has died. */
    public static Optional<String> fault(ThreadName name) {
        return deaths(name) == 0
                ? Optional.empty()
                : Optional.of("the thread died; restart the process");
    }

    /** The number of threads of this name that have died. */
    public static long deaths(ThreadName name) {
        return STARTED.stream().filter(each -> each.name == name && each.isDead()).count();
    }

    /**
     * The duration of the longest current round of the threads of this name; zero if they pause. A
     * round takes seconds at most, so a thread that is in one for a minute hangs.
     */
    public static Duration longestRound(ThreadName name) {
        long now = System.nanoTime();
        return STARTED.stream()
                .filter(each -> each.name == name)
                .mapToLong(each -> each.round.get())
                .filter(began -> began != PAUSED)
                .mapToObj(began -> Duration.ofNanos(Math.max(0, now - began)))
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    private boolean isDead() {
        return thread.getState() == Thread.State.TERMINATED && !mayEnd.getAsBoolean();
    }

    private void run(Work work) {
        try {
            work.run();
            ended(null);
        } catch (Throwable e) {
            ended(e);
        }
    }

    private void ended(@Nullable Throwable cause) {
        if (mayEnd.getAsBoolean()) {
            STARTED.remove(this);
        }
        try {
            logEnd(cause);
        } finally {
            if (cause instanceof OutOfMemoryError) {
                Runtime.getRuntime().halt(OUT_OF_MEMORY);
            }
        }
    }

    private void logEnd(@Nullable Throwable cause) {
        if (!mayEnd.getAsBoolean()) {
            log.error("The thread '{}' died; restart the process", name, cause);
        } else if (cause != null) {
            log.warn("The thread '{}' failed while it was being stopped", name, cause);
        }
    }
}
