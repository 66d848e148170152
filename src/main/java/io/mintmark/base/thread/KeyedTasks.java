package io.mintmark.base.thread;

import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Tasks on virtual threads, one for each key at a time, and at most a number for all keys.
 *
 * @param <K> what a task works on: a tenant, an access provider
 */
public final class KeyedTasks<K> {
    private final Set<K> running = new HashSet<>();
    private final int most;

    /**
     * @param most tasks at a time
     */
    public KeyedTasks(int most) {
        this.most = most;
    }

    /**
     * Starts a task, unless one with this key is running, or too many are.
     *
     * @param alongside whether it may run beside those with the given keys
     * @return whether it was started
     */
    public boolean start(K key, String thread, Predicate<Set<K>> alongside, Runnable task) {
        if (!enter(key, alongside)) {
            return false;
        }
        Thread.ofVirtual()
                .name(thread)
                .start(() -> {
                    try {
                        task.run();
                    } finally {
                        leave(key);
                    }
                });
        return true;
    }

    private synchronized boolean enter(K key, Predicate<Set<K>> alongside) {
        return running.size() < most
                && alongside.test(Collections.unmodifiableSet(running))
                && running.add(key);
    }

    private synchronized void leave(K key) {
        running.remove(key);
        notifyAll();
    }

    /** The number of further tasks that may be started now. */
    public synchronized int free() {
        return most - running.size();
    }

    /** The keys whose tasks are running now. */
    public synchronized Set<K> running() {
        return Set.copyOf(running);
    }

    /** Waits until no task is running, or for so long. */
    public synchronized void awaitIdle(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        try {
            while (!running.isEmpty() && end - System.nanoTime() > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, end - System.nanoTime());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
