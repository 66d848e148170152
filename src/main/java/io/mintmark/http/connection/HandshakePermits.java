package io.mintmark.http.connection;

import io.mintmark.limit.Network;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.SSLException;

/**
 * Bounds the TLS handshakes that compute at a time. A handshake costs more than any request without
 * a token, and clients that start many would keep all threads from everybody's requests.
 */
final class HandshakePermits {
    /** How long a handshake waits; then its client had better try again. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** Handshakes of one client that compute or wait, so that others find a place. */
    static final int MOST_OF_CLIENT = 64;

    private final Semaphore permits;
    private final Map<Network, Integer> ofClient = new ConcurrentHashMap<>();

    /**
     * @param most how many compute at a time
     */
    HandshakePermits(int most) {
        this.permits = new Semaphore(most, true);
    }

    /**
     * Computes a step of a handshake when it is its turn.
     *
     * @throws SSLException if this client has too many, or all together
     */
    void run(Network client, Runnable step) throws SSLException {
        int own = ofClient.merge(client, 1, Integer::sum);
        try {
            if (own > MOST_OF_CLIENT || !isAcquired()) {
                throw new SSLException("too many handshakes at a time");
            }
            try {
                step.run();
            } finally {
                permits.release();
            }
        } finally {
            ofClient.computeIfPresent(client, (_, count) -> count == 1 ? null : count - 1);
        }
    }

    private boolean isAcquired() throws SSLException {
        try {
            return permits.tryAcquire(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SSLException("interrupted", e);
        }
    }
}
