package io.mintmark.base.http.connection;

import java.time.Duration;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * A connection's wait for its client.
 *
 * @param moment when the wait was seen; only that very wait is ended
 * @param nanos how long the wait has lasted
 */
record ClientWait(ConnectionState state, ConnectionState.Moment moment, long nanos) {
    /**
     * The minimum wait for a client before its connection may be closed for another one. A client
     * that reads has received everything by then. It is shorter than the time that a request waits
     * for a permit, so that closing a slow connection lets that request proceed.
     */
    private static final long LEAST = Duration.ofMillis(500).toNanos();

    /** Waits for clients that are too long where others find no place, the longest first. */
    static Stream<ClientWait> longest(Stream<ConnectionState> among) {
        return among.flatMap(state -> state.clientWait().stream())
                .filter(wait -> wait.nanos >= LEAST)
                .sorted(Comparator.comparingLong(ClientWait::nanos).reversed());
    }

    /** Closes the connection if it is still in this wait. */
    boolean end() {
        return state.closeAt(moment);
    }
}
