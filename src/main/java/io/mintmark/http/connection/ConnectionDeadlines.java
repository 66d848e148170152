package io.mintmark.http.connection;

import io.mintmark.config.ServerBounds;

import java.time.Duration;

/** Watches over all conversations of a port: how many there may be, and how long they may stall. */
final class ConnectionDeadlines implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofMillis(100);

    private final Crowd connections;
    private final Crowd requests;
    private final Thread watch =
            Thread.ofPlatform().daemon().name("connection-deadlines").unstarted(this::watch);
    private volatile boolean windingDown;

    ConnectionDeadlines(ServerBounds bounds) {
        this.connections = new Crowd(bounds.maxConnections());
        this.requests = new Crowd(bounds.maxRequests());
    }

    /** Starts watching. */
    ConnectionDeadlines start() {
        watch.start();
        return this;
    }

    void connected(Conversation conversation) {
        connections.join(conversation);
    }

    void requested(Conversation conversation) {
        requests.join(conversation);
    }

    void answered(Conversation conversation) {
        requests.leave(conversation);
    }

    void disconnected(Conversation conversation) {
        requests.leave(conversation);
        connections.leave(conversation);
    }

    /** From now on a connection ends as soon as no request is under way on it. */
    void windDown() {
        windingDown = true;
    }

    private void watch() {
        try {
            while (true) {
                Thread.sleep(PERIOD);
                connections.sweep();
                requests.sweep();
                if (windingDown) {
                    connections.sendHome();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        }
    }

    @Override
    public void close() {
        watch.interrupt();
    }
}
