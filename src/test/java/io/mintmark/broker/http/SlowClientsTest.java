package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.ServerBounds;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.time.Duration;

/** Every client here would wait half a minute; the server is less other. */
class SlowClientsTest {
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final String GET = "GET /ok HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String POST =
            "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n";

    @AutoClose
    private static final GuardedServer server =
            new GuardedServer(new ServerBounds(SHORT, SHORT, SHORT, SHORT, 64, 64));

    @BeforeEach
    void forget() {
        server.forgetRequests();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "G",
                "GET /ok HTT",
                "GET /ok HTTP/1.1\r",
                "GET /ok HTTP/1.1\r\nHos",
                "GET /ok HTTP/1.1\r\nHost: a\r\n",
                "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
                "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell",
            })
    void a_client_that_stalls_is_left(String start) throws IOException {
        try (RawClient client = server.client()) {
            assertEquals("", client.send(start).untilClosed());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"G", "GET /ok HTTP/1.1\r\nHost: a\r\nX: ", POST})
    void a_client_that_sends_byte_by_byte_is_left(String start) throws IOException {
        try (RawClient client = server.client()) {
            client.send(start);
            Thread sending = Thread.ofVirtual().start(() -> trickle(client));

            assertEquals("", client.untilClosed());
            sending.interrupt();
        }
    }

    /** One byte in a while, for longer than any bound. */
    private static void trickle(RawClient client) {
        try {
            for (int i = 0; i < 10_000; i++) {
                client.trySending("a");
                Thread.sleep(Duration.ofMillis(20));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void a_connection_that_is_not_used_again_is_closed() throws IOException {
        try (RawClient client = server.client()) {
            assertEquals("ok", client.send(GET).answer().body());
            assertEquals("", client.untilClosed());
        }
    }

    @Test
    void the_beginning_of_a_next_request_does_not_keep_a_connection_open() throws IOException {
        try (RawClient client = server.client()) {
            assertEquals("ok", client.send(GET + "GET /ok HTTP/1.1\r\nHo").answer().body());
            assertEquals("", client.untilClosed());
        }
    }

    @Test
    void a_client_that_does_not_read_its_answer_is_left() throws IOException {
        try (RawClient client = new RawClient(server.port(), 4096)) {
            client.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
            server.awaitDone("/long");

            assertTrue(client.untilClosed().length() < GuardedServer.LENGTHY);
        }
    }

    @Test
    void a_client_that_asks_on_without_reading_is_left() throws IOException {
        try (RawClient client = new RawClient(server.port(), 4096)) {
            int sent = 0;
            while (sent < 1_000_000 && sendsAll(client, GET.repeat(100))) {
                sent++;
            }

            assertTrue(sent < 1_000_000);
        }
    }

    private static boolean sendsAll(RawClient client, String text) {
        try {
            client.send(text);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void a_client_whose_request_was_refused_may_not_go_on_sending_for_ever() throws IOException {
        try (RawClient client = server.client()) {
            client.send("nonsense\r\n\r\n");
            Thread sending = Thread.ofVirtual().start(() -> trickle(client));

            assertTrue(client.untilClosed().contains("INVALID_REQUEST"));
            sending.interrupt();
        }
    }

    @Test
    void idle_connections_do_not_hold_up_the_stop() throws IOException, InterruptedException {
        GuardedServer other = GuardedServer.withLongTimeouts();
        try (RawClient silent = other.client();
                RawClient idle = other.client();
                RawClient refused = other.client()) {
            idle.send(GET).answer();
            refused.send("nonsense\r\n\r\n").answer();
            Thread stop = Thread.ofVirtual().start(other::close);

            assertEquals("", silent.untilClosed());
            assertEquals("", idle.untilClosed());
            assertEquals("", refused.untilClosed());
            stop.join();
        }
    }

    @Test
    void a_connection_ends_with_the_request_that_is_under_way_when_the_stop_begins()
            throws IOException {
        try (GuardedServer other = GuardedServer.withLongTimeouts();
                RawClient client = other.client()) {
            client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
            Eventually.holds(() -> other.requests().contains("/wait"));
            other.closeIdle();
            other.go();
            assertEquals("waited", client.answer().body());
            assertEquals("", client.untilClosed());
        }
    }

    @Test
    void no_client_pays_for_the_servers_own_slowness() throws IOException {
        try (GuardedServer slow =
                        new GuardedServer(new ServerBounds(SHORT, SHORT, SHORT, SHORT, 64, 64));
                RawClient client = slow.client()) {
            client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
            for (int i = 0; i < 3; i++) {
                assertEquals("", slow.client().untilClosed()); // by now every bound has passed
            }
            slow.go();

            assertEquals("waited", client.answer().body());
        }
    }
}
