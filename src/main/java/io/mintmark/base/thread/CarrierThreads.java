package io.mintmark.base.thread;

import jdk.management.VirtualThreadSchedulerMXBean;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * Adapts the number of platform threads that carry virtual threads. The JVM doesn't preempt virtual
 * threads, and one that a platform thread wakes runs last, so a flood of requests that need CPU can
 * delay all others by seconds. The operating system shares the processors fairly among several
 * carriers for each processor, but switching between them costs every request up to a third more
 * CPU. Therefore there is one carrier for each processor, as by default, and more only while
 * virtual threads start late.
 */
public final class CarrierThreads {
    /** The carriers for each processor while virtual threads start late. */
    static final int PER_PROCESSOR = 8;

    /** A start later than this is late. At rest, 32 busy connections cause a fifth of it. */
    static final Duration LATE = Duration.ofMillis(50);

    /** The time without late starts after which the number of carriers is reduced again. */
    static final Duration CALM = Duration.ofSeconds(10);

    private static final Duration PERIOD = Duration.ofMillis(25);

    private final int processors;
    private final ThreadFactory threads;
    private final LongSupplier nanoTime;
    private final IntConsumer parallelism;
    private volatile boolean waits;
    private volatile long delay;
    private long started;
    private long lastLate;
    private boolean wasLate;
    private boolean raised;

    /**
     * @param threads of virtual threads
     * @param parallelism sets the number of carriers
     */
    CarrierThreads(
            int processors, ThreadFactory threads, LongSupplier nanoTime, IntConsumer parallelism) {
        this.processors = processors;
        this.threads = threads;
        this.nanoTime = nanoTime;
        this.parallelism = parallelism;
    }

    /** Adapts the JVM's carriers until the process ends, unless the operator chose their number. */
    public static void adapt() {
        if (System.getProperty("jdk.virtualThreadScheduler.parallelism") != null) {
            return;
        }
        int processors = Runtime.getRuntime().availableProcessors();
        var carriers =
                new CarrierThreads(
                        processors,
                        Thread.ofVirtual().factory(),
                        System::nanoTime,
                        count -> scheduler().setParallelism(count));
        var _ =
                BackgroundThread.repeating(ThreadName.CARRIER_THREADS, PERIOD, carriers::check)
                        .start();
    }

    /** Management takes time to load, and most processes never need it. */
    private static VirtualThreadSchedulerMXBean scheduler() {
        return ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);
    }

    /** Measures the delay of the last virtual thread's start, and starts another thread. */
    Duration check() {
        long now = nanoTime.getAsLong();
        boolean isLate = (waits ? now - started : delay) > LATE.toNanos();
        if (isLate) {
            lastLate = now;
        }
        if (isLate && wasLate && !raised) {
            set(true);
        } else if (raised && now - lastLate > CALM.toNanos()) {
            set(false);
        }
        wasLate = isLate;
        if (!waits) {
            begin(now);
        }
        return PERIOD;
    }

    private void begin(long now) {
        started = now;
        waits = true;
        threads.newThread(
                        () -> {
                            delay = nanoTime.getAsLong() - now;
                            waits = false;
                        })
                .start();
    }

    private void set(boolean raise) {
        raised = raise;
        parallelism.accept(raise ? PER_PROCESSOR * processors : processors);
    }
}
