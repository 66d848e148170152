package io.mintmark.base.http.connection;

import io.mintmark.base.limit.Network;
import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.limit.SharedPermits.Permit;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import javax.net.ssl.SSLException;

/**
 * Bounds the TLS handshakes that compute at a time. A handshake costs more than any request without
 * a token, and clients that start many would keep all threads from everybody's requests. The newest
 * goes first: in an overload the clients that have waited longest are the likeliest to have left,
 * and if all waited in order, all would wait too long.
 */
final class HandshakePermits {
    /** The maximum wait of a handshake. After that, its client should retry. */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /**
     * The maximum number of one client's handshakes that compute or wait, which leaves permits for
     * others.
     */
    static final int MOST_OF_CLIENT = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<CountDownLatch> waiting = new ArrayDeque<>();
    private final SharedPermits<Network> places = SharedPermits.ofEachOwner(MOST_OF_CLIENT);
    private int free;

    /**
     * @param most how many compute at a time
     */
    HandshakePermits(int most) {
        this.free = most;
    }

    /**
     * Computes a step of a handshake when it is its turn.
     *
     * @throws SSLException if this client has too many, or all together
     */
    void run(Network client, Runnable step) throws SSLException {
        try (Permit _ =
                places.acquire(client, Duration.ZERO).orElseThrow(HandshakePermits::tooMany)) {
            if (!isAcquired()) {
                throw tooMany();
            }
            try {
                step.run();
            } finally {
                release();
            }
        }
    }

    private static SSLException tooMany() {
        return new SSLException("too many TLS handshakes are in progress");
    }

    private boolean isAcquired() throws SSLException {
        CountDownLatch turn = turn();
        try {
            return turn.await(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS) || !isWithdrawn(turn);
        } catch (InterruptedException e) {
            if (!isWithdrawn(turn)) {
                release();
            }
            Thread.currentThread().interrupt();
            throw new SSLException("interrupted", e);
        }
    }

    /** Takes a permit or queues for one. The latch is counted down when the permit is granted. */
    private CountDownLatch turn() {
        CountDownLatch turn = new CountDownLatch(1);
        lock.lock();
        try {
            if (free > 0) {
                free--;
                turn.countDown();
            } else {
                waiting.push(turn);
            }
        } finally {
            lock.unlock();
        }
        return turn;
    }

    private boolean isWithdrawn(CountDownLatch turn) {
        lock.lock();
        try {
            return waiting.remove(turn);
        } finally {
            lock.unlock();
        }
    }

    /** The number of handshakes that wait for a permit. */
    int waiting() {
        lock.lock();
        try {
            return waiting.size();
        } finally {
            lock.unlock();
        }
    }

    private void release() {
        lock.lock();
        try {
            if (waiting.isEmpty()) {
                free++;
            } else {
                waiting.pop().countDown();
            }
        } finally {
            lock.unlock();
        }
    }
}
