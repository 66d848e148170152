package io.mintmark.audit;

import io.mintmark.base.tenant.TenantName;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The queue of the audit log's writer. Outcomes of started mints come first. New mints queue by
 * tenant, and the writer serves tenants in rotation, so that a tenant with many requests delays
 * only itself.
 */
final class SubmissionQueue {
    /** The queued new mints of a tenant; a tenant without any has no entry. */
    private record Beginnings(TenantName tenant, Queue<Submission> waiting) {}

    private final int capacity;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<Submission> begun = new ArrayDeque<>();
    private final Map<TenantName, Beginnings> beginnings = new HashMap<>();
    private final Queue<Beginnings> roundRobin = new ArrayDeque<>();
    private int size;
    private boolean closed;

    /**
     * @param capacity submissions that may wait
     */
    SubmissionQueue(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Puts a submission behind those of its kind, unless the queue is full or closed, or its tenant
     * has half of it.
     */
    boolean offer(Submission submission) {
        Optional<TenantName> tenant = submission.beginnerOf();
        lock.lock();
        try {
            if (closed || size == capacity) {
                return false;
            }
            Queue<Submission> own = tenant.map(this::waiting).orElse(begun);
            if (tenant.isPresent() && own.size() >= capacity / 2) {
                return false;
            }
            own.add(submission);
            size++;
            changed.signal();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private Queue<Submission> waiting(TenantName tenant) {
        Beginnings own = beginnings.get(tenant);
        if (own == null) {
            own = new Beginnings(tenant, new ArrayDeque<>());
            beginnings.put(tenant, own);
            roundRobin.add(own);
        }
        return own.waiting;
    }

    /**
     * Takes the next submissions, waiting for the first one.
     *
     * @param most how many
     * @param ofOneTenant how many new mints of one tenant at most
     * @return empty if none came in time, all were cancelled, or the queue is closed and empty
     */
    List<Submission> take(int most, int ofOneTenant, Duration timeout) throws InterruptedException {
        List<Submission> taken = new ArrayList<>(most);
        lock.lock();
        try {
            long left = timeout.toNanos();
            while (size == 0 && !closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            move(begun, most, taken);
            for (int tenants = roundRobin.size(); tenants > 0 && taken.size() < most; tenants--) {
                takeShare(roundRobin.remove(), Math.min(most, taken.size() + ofOneTenant), taken);
            }
        } finally {
            lock.unlock();
        }
        return taken;
    }

    private void takeShare(Beginnings own, int upTo, List<Submission> taken) {
        move(own.waiting, upTo, taken);
        if (own.waiting.isEmpty()) {
            beginnings.remove(own.tenant);
        } else {
            roundRobin.add(own);
        }
    }

    /** Moves submissions to a batch, up to its limit, and drops cancelled ones. */
    private void move(Queue<Submission> from, int upTo, List<Submission> to) {
        while (to.size() < upTo && !from.isEmpty()) {
            Submission next = from.remove();
            size--;
            if (next.isWanted()) {
                to.add(next);
            }
        }
    }

    /** Removes and returns everything that is left, without writing it. */
    List<Submission> drain() {
        List<Submission> left = new ArrayList<>();
        lock.lock();
        try {
            move(begun, capacity, left);
            roundRobin.forEach(own -> move(own.waiting, capacity, left));
            beginnings.clear();
            roundRobin.clear();
        } finally {
            lock.unlock();
        }
        return left;
    }

    int size() {
        lock.lock();
        try {
            return size;
        } finally {
            lock.unlock();
        }
    }

    /** Whether no more submissions will come. */
    boolean isOver() {
        lock.lock();
        try {
            return closed && size == 0;
        } finally {
            lock.unlock();
        }
    }

    /** Closes the queue. Callers that wait for a submission get it, or learn that there is none. */
    void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
