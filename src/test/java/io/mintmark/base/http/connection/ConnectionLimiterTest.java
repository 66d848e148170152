package io.mintmark.base.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helidon.webserver.CloseConnectionException;
import io.mintmark.base.config.ServerBounds;
import io.mintmark.base.limit.Network;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

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

    /** Those of a /64 of IPv6 are one client. */
    @ParameterizedTest
    @CsvSource({"192.0.2.7, 192.0.2.7", "2001:db8::7, 2001:db8::8"})
    void a_client_with_more_than_its_share_is_closed_before_one_that_waits_longer(
            String attacker, String sameAttacker) {
        AtomicInteger ofAttacker = new AtomicInteger();

        whileWaitingFor(
                connection(),
                () -> {
                    now.addAndGet(Duration.ofMillis(400).toNanos());
                    whileWaitingFor(
                            connection(attacker, ofAttacker::incrementAndGet),
                            () ->
                                    whileWaitingFor(
                                            connection(sameAttacker, ofAttacker::incrementAndGet),
                                            () -> atTheBound(13)));
                });

        assertEquals(2, ofAttacker.get());
        assertEquals(0, closed.get());
    }

    /** Further connections, of a client each. */
    private void atTheBound(int further) {
        if (further == 0) {
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            limiter.closeOverdue();
        } else {
            whileWaitingFor(
                    connection("198.51.100." + further, closed::incrementAndGet),
                    () -> atTheBound(further - 1));
        }
    }

    /** A bound that others are leaving just when somebody makes room is no fault of theirs. */
    @Test
    void connections_that_come_and_go_in_numbers_are_in_no_others_way() throws Exception {
        try (var threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> clients = new ArrayList<>();
            for (int client = 0; client < 4; client++) {
                clients.add(threads.submit(this::comeAndGo));
            }
            for (Future<?> client : clients) {
                client.get();
            }
        }

        assertTrue(limiter.isEmpty());
    }

    private void comeAndGo() {
        List<ConnectionState> states = Stream.generate(this::connection).limit(8).toList();
        for (int i = 0; i < 20_000; i++) {
            states.forEach(limiter::join);
            states.forEach(limiter::leave);
        }
    }

    private ConnectionState connection() {
        return connection("192.0.2.1", closed::incrementAndGet);
    }

    private ConnectionState connection(String client, Runnable close) {
        return new ConnectionState(
                new ServerBounds(LONG, LONG, LONG, LONG, 16, 16),
                Network.of(InetAddress.ofLiteral(client)),
                now::get,
                close);
    }

    /** Does something while so many connections wait for their clients. */
    private void whileWaitingFor(int connections, Runnable action) {
        if (connections == 0) {
            action.run();
            return;
        }
        whileWaitingFor(connection(), () -> whileWaitingFor(connections - 1, action));
    }

    private void whileWaitingFor(ConnectionState state, Runnable action) {
        limiter.join(state);
        try {
            state.awaitClient(() -> {
                action.run();
                return "";
            });
        } catch (CloseConnectionException e) {
            // one that made room
        }
    }
}
