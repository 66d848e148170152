package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.ServerBounds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * No time-out is reached here: it is the number of connections that makes the server close some.
 */
class ConnectionLimitTest {
    private static final String GET = "GET /ok HTTP/1.1\r\nHost: a\r\n\r\n";

    private static final Duration LONG = Duration.ofHours(1);

    /** Clients' time goes by fast: whom the server closes has waited for half a second of it. */
    private final GuardedServer server =
            new GuardedServer(
                    new ServerBounds(LONG, LONG, LONG, LONG, 64, 16), () -> 5 * System.nanoTime());

    private final List<RawClient> others = new ArrayList<>();

    @AfterEach
    void stop() throws IOException {
        for (RawClient client : others) {
            client.close();
        }
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "GET /ok HT",
                "GET /ok HTTP/1.1\r\nHost: a\r\n",
                "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell",
            })
    void those_who_hold_connections_without_using_them_do_not_keep_out_others(String start)
            throws IOException {
        for (int i = 0; i < 400; i++) {
            others.add(server.client().trySending(start));
            if (i % 100 == 0) {
                assertServed();
            }
        }
        assertServed();
        assertEquals("", others.getFirst().untilClosed());
    }

    @Test
    void those_who_do_not_read_their_answers_do_not_keep_out_others() throws IOException {
        for (int i = 0; i < 200; i++) {
            RawClient client = new RawClient(server.port(), 4096, "127.0.9." + (i + 1));
            others.add(client.trySending("GET /long HTTP/1.1\r\nHost: a\r\n\r\n"));
            if (i % 10 == 0) {
                assertServed();
            }
        }
        assertServed();
        assertTrue(others.getFirst().untilClosed().length() < GuardedServer.LENGTHY);
    }

    @Test
    void a_connection_that_is_at_work_is_kept() throws IOException {
        RawClient working = server.client().send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
        while (!server.requests().contains("/wait")) {
            Thread.onSpinWait();
        }
        for (int i = 0; i < 500; i++) {
            others.add(server.client());
        }
        assertServed();
        server.go();

        assertEquals("waited", working.answer().body());
        working.close();
    }

    @Test
    void one_that_is_never_idle_ends_with_its_answer_once_most_places_are_taken()
            throws IOException {
        try (GuardedServer unhurried = new GuardedServer(GuardedServer.bounds(64, 16))) {
            for (int i = 0; i < 60; i++) {
                RawClient client = unhurried.client();
                others.add(client);
                assertEquals("keep-alive", client.send(GET).answer().header("connection"));
            }
            RawClient further = unhurried.client();
            others.add(further);

            assertEquals("close", further.send(GET).answer().header("connection"));
            assertEquals("", further.untilClosed());
        }
    }

    private void assertServed() throws IOException {
        try (RawClient client = server.client()) {
            assertEquals("ok", client.send(GET).answer().body());
        }
    }
}
