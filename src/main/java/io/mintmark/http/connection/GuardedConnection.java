package io.mintmark.http.connection;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.task.InterruptableTask;
import io.helidon.webserver.spi.ServerConnection;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.function.Supplier;

/** A connection that is watched from its beginning to its end. */
final class GuardedConnection implements ServerConnection, InterruptableTask<Void> {
    /** What a client may still send when it has got its last answer, in bytes. */
    private static final int FAREWELL = 1024 * 1024;

    private final ServerConnection connection;
    private final Supplier<byte[]> socket;
    private final Conversation conversation;
    private final ConnectionDeadlines deadlines;

    GuardedConnection(
            ServerConnection connection,
            Supplier<byte[]> socket,
            Conversation conversation,
            ConnectionDeadlines deadlines) {
        this.connection = connection;
        this.socket = socket;
        this.conversation = conversation;
        this.deadlines = deadlines;
    }

    @Override
    public void handle(Limit limit) throws InterruptedException {
        deadlines.connected(conversation);
        try {
            connection.handle(limit);
        } finally {
            if (conversation.isUnread()) {
                conversation.farewell();
                drain();
            }
            deadlines.disconnected(conversation);
        }
    }

    /**
     * Closing a socket while the client is still sending makes its system throw away what it has
     * received, and with it the answer that says what was wrong.
     */
    private void drain() {
        try {
            int drained = 0;
            while (drained < FAREWELL) {
                byte[] bytes = conversation.onClient(socket);
                drained += bytes == null ? FAREWELL : bytes.length;
            }
        } catch (UncheckedIOException e) {
            return; // the client has left
        }
    }

    /** Never: {@link ConnectionDeadlines} sees to idle connections, and one watch is enough. */
    @Override
    public Duration idleTime() {
        return Duration.ZERO;
    }

    @Override
    public boolean canInterrupt() {
        return connection instanceof InterruptableTask<?> task && task.canInterrupt();
    }

    @Override
    public void close(boolean interrupt) {
        connection.close(interrupt);
    }
}
