package io.mintmark.http.connection;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.http.DirectHandler.TransportRequest;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.spi.ServerConnection;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A connection that is watched from its beginning to its end. The server can't interrupt it: what
 * has been read of a request would be lost.
 */
final class GuardedConnection implements ServerConnection {
    /** What a client may still send when it has got its last answer, in bytes. */
    private static final int MOST_LINGERING = 1024 * 1024;

    /** That of the connection which this thread works on. */
    private static final ScopedValue<ConnectionState> STATE = ScopedValue.newInstance();

    private final ServerConnection connection;
    private final Supplier<byte[]> socket;
    private final ConnectionState state;
    private final ConnectionDeadlines deadlines;

    GuardedConnection(
            ServerConnection connection,
            Supplier<byte[]> socket,
            ConnectionState state,
            ConnectionDeadlines deadlines) {
        this.connection = connection;
        this.socket = socket;
        this.state = state;
        this.deadlines = deadlines;
    }

    /** The request that this thread works on, as far as it is known. */
    static Optional<TransportRequest> request() {
        return STATE.isBound() ? Optional.of(STATE.get().request()) : Optional.empty();
    }

    @Override
    public void handle(Limit limit) throws InterruptedException {
        deadlines.connected(state);
        try {
            ScopedValue.where(STATE, state)
                    .call(() -> {
                        connection.handle(limit);
                        return state;
                    });
        } finally {
            deadlines.answered(state);
            if (state.lingers()) {
                linger();
            }
            deadlines.disconnected(state);
        }
    }

    /**
     * Closing a socket while the client is still sending makes its system throw away what it has
     * received, and with it the answer that says what was wrong.
     */
    private void linger() {
        try {
            int received = 0;
            while (received < MOST_LINGERING) {
                byte[] bytes = state.awaitClient(socket);
                received += bytes == null ? MOST_LINGERING : bytes.length;
            }
        } catch (UncheckedIOException | CloseConnectionException e) {
            return; // the client has left, or has taken too long
        }
    }

    /** Never: {@link ConnectionDeadlines} sees to idle connections, and one watch is enough. */
    @Override
    public Duration idleTime() {
        return Duration.ZERO;
    }

    @Override
    public void close(boolean interrupt) {
        connection.close(interrupt);
    }
}
