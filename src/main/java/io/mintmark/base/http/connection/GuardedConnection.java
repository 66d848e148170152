package io.mintmark.base.http.connection;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.http.DirectHandler.TransportRequest;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.spi.ServerConnection;
import io.mintmark.base.http.connection.RequestPermits.Reservation;
import io.mintmark.base.limit.SharedPermits;

import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * A connection that is watched from its beginning to its end. The server can't interrupt it: what
 * has been read of a request would be lost.
 */
final class GuardedConnection implements ServerConnection {
    /** The most that a client may still send after its last answer, in bytes. */
    private static final int MOST_LINGERING = 1024 * 1024;

    /** The connection that this thread works on. */
    private static final ScopedValue<GuardedConnection> CONNECTION = ScopedValue.newInstance();

    private final ServerConnection connection;
    private final Transport transport;
    private final HelidonSocket socket;
    private final ConnectionState state;
    private final ConnectionDeadlines deadlines;
    private final SharedPermits<String> memory;
    private final AnswerMemory answers;
    private final Set<String> withoutPermits;
    private Optional<RequestPermits> permits = Optional.empty();

    /**
     * @param memory memory for requests that returned their permits
     * @param answers memory for answers that wait for their clients
     * @param withoutPermits the paths of requests that need no permits
     */
    GuardedConnection(
            ServerConnection connection,
            Transport transport,
            HelidonSocket socket,
            ConnectionState state,
            ConnectionDeadlines deadlines,
            SharedPermits<String> memory,
            AnswerMemory answers,
            Set<String> withoutPermits) {
        this.connection = connection;
        this.transport = transport;
        this.socket = socket;
        this.state = state;
        this.deadlines = deadlines;
        this.memory = memory;
        this.answers = answers;
        this.withoutPermits = withoutPermits;
    }

    /** The request that this thread works on, as far as it is known. */
    static Optional<TransportRequest> request() {
        return CONNECTION.isBound()
                ? Optional.of(CONNECTION.get().state.request())
                : Optional.empty();
    }

    /** The other end of the connection that this thread works on. */
    static Optional<InetAddress> peer() {
        return CONNECTION.isBound()
                        && CONNECTION.get().socket.remotePeer().address()
                                instanceof InetSocketAddress peer
                ? Optional.of(peer.getAddress())
                : Optional.empty();
    }

    /**
     * Returns the permit of this thread's request, if there is memory for it.
     *
     * @param owner the owner that the request counts for
     * @param kibibytes that it keeps until it is answered
     * @return false if the owner's share is used up
     */
    static boolean releasePermit(String owner, int kibibytes) {
        return !release(owner, kibibytes).equals(Optional.of(Reservation.OWNER_FULL));
    }

    /**
     * Returns the permit of a request that must not keep it.
     *
     * @return false if there is no memory for it
     */
    static boolean releasePermitToWait(String owner, int kibibytes) {
        return release(owner, kibibytes).orElse(Reservation.RESERVED) == Reservation.RESERVED;
    }

    private static Optional<Reservation> release(String owner, int kibibytes) {
        return CONNECTION.isBound()
                ? CONNECTION.get().giveBackIfAny(owner, kibibytes)
                : Optional.empty();
    }

    private Optional<Reservation> giveBackIfAny(String owner, int kibibytes) {
        Optional<Reservation> entry = permits.flatMap(own -> own.release(owner, kibibytes));
        if (entry.equals(Optional.of(Reservation.RESERVED))) {
            deadlines.answered(state);
        }
        return entry;
    }

    /**
     * Memory for the answer of this thread's connection.
     *
     * @param held how it is held
     */
    static <T> Optional<T> answerMemory(BiFunction<AnswerMemory, ConnectionState, T> held) {
        return CONNECTION.isBound()
                ? Optional.of(held.apply(CONNECTION.get().answers, CONNECTION.get().state))
                : Optional.empty();
    }

    @Override
    public void handle(Limit limit) throws InterruptedException {
        RequestPermits own =
                new RequestPermits(limit, memory, () -> withoutPermits.contains(state.path()));
        permits = Optional.of(own);
        deadlines.connected(state);
        try {
            open();
            ScopedValue.where(CONNECTION, this)
                    .call(() -> {
                        connection.handle(own);
                        return state;
                    });
        } finally {
            deadlines.answered(state);
            end();
        }
    }

    /** Closes the connection, which no longer counts as open even if closing fails. */
    private void end() {
        try {
            finish();
            if (state.lingers()) {
                linger();
            }
        } finally {
            deadlines.disconnected(state);
        }
    }

    /** Does the handshake. A client that fails it ends its own connection and nothing else. */
    private void open() {
        state.opens();
        try {
            state.awaitClient(() -> {
                transport.open();
                return state;
            });
        } catch (UncheckedIOException e) {
            throw new CloseConnectionException("the TLS handshake failed", e);
        }
        state.isOpen();
    }

    private void finish() {
        try {
            state.awaitClient(() -> {
                transport.finish();
                return state;
            });
        } catch (UncheckedIOException | CloseConnectionException e) {
            return; // the client has left, or was sent away
        }
    }

    /**
     * If a socket is closed while the client is still sending, the client's system discards what it
     * has received, including the error response.
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

    /**
     * Returns zero, so that the server never closes a connection as idle: {@link
     * ConnectionDeadlines} does.
     */
    @Override
    public Duration idleTime() {
        return Duration.ZERO;
    }

    @Override
    public void close(boolean interrupt) {
        connection.close(interrupt);
    }
}
