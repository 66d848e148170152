package io.mintmark.base.http.connection;

import io.mintmark.base.config.ServerBounds;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Watches over all connections of a port: how many there may be, and how long they may stall. */
final class ConnectionDeadlines implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofMillis(100);

    private final ConnectionLimiter connections;
    private final ConnectionLimiter requests;
    private final BackgroundThread watch =
            BackgroundThread.repeating(ThreadName.CONNECTION_DEADLINES, PERIOD, this::watch);
    private final CountDownLatch empty = new CountDownLatch(1);
    private volatile boolean draining;
    private volatile boolean closingIdle;

    ConnectionDeadlines(ServerBounds bounds) {
        this.connections = new ConnectionLimiter(bounds.maxConnections());
        this.requests = new ConnectionLimiter(bounds.maxRequests());
    }

    ConnectionDeadlines start() {
        var _ = watch.start();
        return this;
    }

    void connected(ConnectionState state) {
        connections.join(state);
    }

    /** Notes that a request is known as far as its headers. */
    void requested(ConnectionState state) {
        requests.join(state);
    }

    /**
     * Notes that the response is written, or that the request no longer counts as being processed.
     */
    void answered(ConnectionState state) {
        requests.leave(state);
    }

    void disconnected(ConnectionState state) {
        requests.leave(state);
        connections.leave(state);
        noteWhetherEmpty();
    }

    /** Makes every response the last one of its connection from now on. */
    void drain() {
        draining = true;
        noteWhetherEmpty();
    }

    private void noteWhetherEmpty() {
        if (draining && connections.isEmpty()) {
            empty.countDown();
        }
    }

    /** Whether each answer is its connection's last. */
    boolean areAnswersLast() {
        return draining || connections.isNearlyFull();
    }

    /** Waits until no connection is open, if only for a moment. */
    boolean awaitEmpty(Duration atMost) throws InterruptedException {
        return empty.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Closes connections without a request in flight, now and from now on. */
    void closeIdle() {
        closingIdle = true;
    }

    private Duration watch() {
        connections.closeOverdue();
        requests.closeOverdue();
        if (closingIdle) {
            connections.closeIdle();
        }
        return PERIOD;
    }

    @Override
    public void close() {
        watch.stop();
    }
}
