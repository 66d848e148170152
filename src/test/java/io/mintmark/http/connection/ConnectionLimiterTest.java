package io.mintmark.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.helidon.webserver.CloseConnectionException;
import io.mintmark.config.ServerBounds;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Who makes room where a bound of 16 is reached, of which one is kept free. */
class ConnectionLimiterTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final ConnectionLimiter limiter = new ConnectionLimiter(16);
    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger closed = new AtomicInteger();

    @Test
    void clients_that_do_their_part_at_once_make_no_room_for_others() {
        whileWaitingFor(
                16,
                () -> {
                    now.addAndGet(Duration.ofMillis(499).toNanos());
                    limiter.closeOverdue();
                });

        assertEquals(0, closed.get());
    }

    @Test
    void clients_that_are_slow_make_room_before_a_request_gives_up_its_turn() {
        whileWaitingFor(
                16,
                () -> {
                    now.addAndGet(Duration.ofMillis(500).toNanos());
                    limiter.closeOverdue();
                });

        assertEquals(2, closed.get());
    }

    @Test
    void within_the_bound_nobody_makes_room() {
        whileWaitingFor(
                15,
                () -> {
                    now.addAndGet(Duration.ofSeconds(50).toNanos());
                    limiter.closeOverdue();
                });

        assertEquals(0, closed.get());
    }

    /** Does something while so many connections wait for their clients. */
    private void whileWaitingFor(int connections, Runnable action) {
        if (connections == 0) {
            action.run();
            return;
        }
        var state =
                new ConnectionState(
                        new ServerBounds(LONG, LONG, LONG, LONG, 16, 16),
                        now::get,
                        closed::incrementAndGet);
        limiter.join(state);
        try {
            state.awaitClient(() -> {
                whileWaitingFor(connections - 1, action);
                return "";
            });
        } catch (CloseConnectionException e) {
            // one that made room
        }
    }
}
