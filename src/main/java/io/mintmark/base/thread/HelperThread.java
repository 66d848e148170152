package io.mintmark.base.thread;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Platform threads that end with their task. They are not supervised, because the code that waits
 * for the task learns of its failure; so a task must report an {@link Error} too.
 */
public final class HelperThread {
    private HelperThread() {}

    /** Starts a daemon thread. */
    public static Thread start(String name, Runnable task) {
        return Thread.ofPlatform().daemon().name(name).start(task);
    }

    /** A number of daemon threads, which end when the pool is shut down. */
    public static ExecutorService pool(String name, int threads) {
        return Executors.newFixedThreadPool(
                threads, Thread.ofPlatform().daemon().name(name + "-", 0).factory());
    }

    /** Runs a task when the process is told to stop. */
    public static void atShutdown(String name, Runnable task) {
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name(name).unstarted(task));
    }
}
