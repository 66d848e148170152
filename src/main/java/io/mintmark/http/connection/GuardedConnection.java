package io.mintmark.http.connection;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.http.DirectHandler.TransportRequest;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.spi.ServerConnection;
import io.mintmark.http.connection.RequestRoom.Entry;

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

    /** The one that this thread works on. */
    private static final ScopedValue<GuardedConnection> CONNECTION = ScopedValue.newInstance();

    private final ServerConnection connection;
    private final Supplier<byte[]> socket;
    private final ConnectionState state;
    private final ConnectionDeadlines deadlines;
    private final RequestRoom room;
    private Optional<RequestTurns> turns = Optional.empty();

    /**
     * @param room for requests that have given their turns back
     */
    GuardedConnection(
            ServerConnection connection,
            Supplier<byte[]> socket,
            ConnectionState state,
            ConnectionDeadlines deadlines,
            RequestRoom room) {
        this.connection = connection;
        this.socket = socket;
        this.state = state;
        this.deadlines = deadlines;
        this.room = room;
    }

    /** The request that this thread works on, as far as it is known. */
    static Optional<TransportRequest> request() {
        return CONNECTION.isBound()
                ? Optional.of(CONNECTION.get().state.request())
                : Optional.empty();
    }

    /**
     * The request that this thread works on gives its turn back, if there is room for it.
     *
     * @param owner who answers for it
     * @param kibibytes that it keeps until it is answered
     * @return false if its owner's part of the room is taken
     */
    static boolean giveBackTurn(String owner, int kibibytes) {
        return !CONNECTION.isBound() || CONNECTION.get().giveBack(owner, kibibytes);
    }

    private boolean giveBack(String owner, int kibibytes) {
        Optional<Entry> entry = turns.flatMap(own -> own.giveBack(owner, kibibytes));
        if (entry.equals(Optional.of(Entry.ENTERED))) {
            deadlines.answered(state);
        }
        return !entry.equals(Optional.of(Entry.OWNER_FULL));
    }

    @Override
    public void handle(Limit limit) throws InterruptedException {
        RequestTurns own = new RequestTurns(limit, room);
        turns = Optional.of(own);
        deadlines.connected(state);
        try {
            ScopedValue.where(CONNECTION, this)
                    .call(() -> {
                        connection.handle(own);
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
