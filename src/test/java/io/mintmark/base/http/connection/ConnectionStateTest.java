package io.mintmark.base.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helidon.webserver.CloseConnectionException;
import io.mintmark.base.config.ServerBounds;
import io.mintmark.base.limit.Network;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Whether a connection may be closed from outside, down to the moment. */
class ConnectionStateTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final AtomicInteger closed = new AtomicInteger();
    private final ConnectionState state =
            new ConnectionState(
                    new ServerBounds(LONG, LONG, LONG, LONG, 16, 16),
                    Network.of(InetAddress.getLoopbackAddress()),
                    () -> 0,
                    closed::incrementAndGet);

    @Test
    void what_arrives_as_an_idle_connection_is_closed_is_not_read() {
        state.receives();

        assertThrows(
                CloseConnectionException.class,
                () -> state.awaitClient(() -> "request " + state.closeIfIdle()));
        assertEquals(1, closed.get());
        assertThrows(CloseConnectionException.class, () -> state.awaitClient(() -> "more"));
    }

    @Test
    void a_connection_whose_request_arrived_is_not_closed() {
        assertEquals("request", state.awaitClient(() -> "request"));
        state.hasReceived();

        assertFalse(state.closeIfIdle());
        assertFalse(state.awaitClient(state::closeIfIdle), "it has begun to be read");
        assertEquals(0, closed.get());
    }

    @Test
    void only_the_wait_that_was_seen_is_ended() {
        ClientWait seen = state.awaitClient(() -> state.clientWait().orElseThrow());

        assertFalse(seen.end());
        assertFalse(state.awaitClient(seen::end), "another wait");
        assertTrue(state.clientWait().isEmpty());
        assertEquals(0, closed.get());
    }

    /** It may be sending its next request when it gets an answer that it couldn't know the last. */
    @Test
    void a_client_that_has_had_all_its_answers_is_waited_for() {
        for (int i = 1; i < 1_000; i++) {
            assertFalse(isLastAnswer());
        }

        assertTrue(isLastAnswer());
        assertTrue(state.lingers());
    }

    private boolean isLastAnswer() {
        state.bodyBegins(RequestBody.none(), false);
        return state.answerBegins(false, 0);
    }
}
