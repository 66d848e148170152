package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.List;

class PersistenceTest {
    private static final String HOST = " HTTP/1.1\r\nHost: a\r\n";
    private static final String NEXT = "GET /ok" + HOST + "\r\n";
    @AutoClose private static final GuardedServer server = GuardedServer.withLongTimeouts();

    @BeforeEach
    void forget() {
        server.forgetRequests();
    }

    @Test
    void a_connection_goes_on_after_its_answers() throws IOException {
        try (RawClient client = server.client()) {
            client.send(NEXT + NEXT + NEXT);

            for (int i = 0; i < 3; i++) {
                RawAnswer answer = client.answer();
                assertEquals("ok", answer.body());
                assertEquals("keep-alive", answer.header("connection"));
            }
        }
    }

    @Test
    void a_thousand_answers_are_enough() throws IOException {
        try (RawClient client = server.client()) {
            for (int i = 1; i < 1_000; i++) {
                assertEquals("keep-alive", client.send(NEXT).answer().header("connection"));
            }

            RawAnswer last = client.send(NEXT).answer();
            assertEquals("ok", last.body());
            assertEquals("close", last.header("connection"));
            assertEquals("", client.send(NEXT).finish().untilClosed());
        }
        assertEquals(1_000, server.requests().size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"close", "Close", "CLOSE", "keep-alive, close", "close,te", "x ,\tclose"})
    void what_a_client_calls_the_last_request_is_the_last(String option) throws IOException {
        assertLast("GET /ok" + HOST + "Connection: " + option + "\r\n\r\n", "ok");
        assertLast("GET /ok" + HOST + "X: y\r\nConnection:" + option + "\r\n\r\n", "ok");
        assertLast(
                "POST /read"
                        + HOST
                        + "Connection: te\r\nConnection: "
                        + option
                        + "\r\nContent-Length: 5\r\n\r\nhello",
                "read 5");
    }

    @Test
    void what_a_route_calls_the_last_answer_is_the_last() throws IOException {
        assertLast("GET /close" + HOST + "\r\n", "bye");
    }

    @Test
    void a_body_that_nobody_reads_is_skipped_if_it_is_there() throws IOException {
        String request = "POST /leave" + HOST + "Content-Length: 5\r\n\r\nhello";
        try (RawClient client = server.client()) {
            client.send(request + request + NEXT);

            assertEquals("left", client.answer().body());
            assertEquals("left", client.answer().body());
            assertEquals("ok", client.answer().body());
        }
    }

    @Test
    void a_body_that_nobody_reads_and_that_is_still_coming_is_the_end() throws IOException {
        String smuggled = NEXT.repeat(1_000);
        String length = "Content-Length: " + smuggled.length() + "\r\n\r\n";

        assertLast("POST /leave" + HOST + length + smuggled, "left");
        assertLast("GET /ok" + HOST + length + smuggled, "ok");
    }

    @Test
    void a_client_that_waits_for_100_is_told_to_go_if_nobody_reads_what_it_sends()
            throws IOException {
        try (RawClient client = server.client()) {
            client.send("POST /leave" + HOST + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
            assertEquals(100, client.answer().status());

            RawAnswer answer = client.answer();
            assertEquals("left", answer.body());
            assertEquals("close", answer.header("connection"));
            assertEquals("", client.send("hello" + NEXT).finish().untilClosed());
        }
        assertEquals(List.of("/leave"), server.requests());
    }

    @Test
    void a_client_that_waits_for_100_gets_it_when_its_body_is_wanted() throws IOException {
        try (RawClient client = server.client()) {
            client.send("POST /read" + HOST + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
            assertEquals(100, client.answer().status());

            assertEquals("read 5", client.send("hello").answer().body());
            assertEquals("ok", client.send(NEXT).answer().body());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nonsense\r\n", "GET /ok HTTP/1.1\r\nno colon\r\n"})
    void a_client_may_finish_what_it_was_saying_when_it_was_refused(String start)
            throws IOException {
        try (RawClient client = server.client()) {
            assertEquals(400, client.send(start).answer().status());
            for (int i = 0; i < 100; i++) {
                client.send("a".repeat(1_000));
            }

            assertEquals("", client.finish().untilClosed());
        }
    }

    @Test
    void an_answer_to_head_ends_with_its_headers() throws IOException {
        try (RawClient client = server.client()) {
            client.send("HEAD /leave" + HOST + "\r\n" + NEXT);

            assertEquals("4", client.head().header("content-length"));
            assertEquals("ok", client.answer().body());
        }
    }

    private static void assertLast(String request, String body) throws IOException {
        server.forgetRequests();
        try (RawClient client = server.client()) {
            client.trySending(request + NEXT).finish();

            RawAnswer answer = client.answer();

            assertEquals(body, answer.body());
            assertEquals("close", answer.header("connection"));
            assertEquals("", client.untilClosed());
        }
        assertEquals(1, server.requests().size(), () -> List.copyOf(server.requests()).toString());
    }
}
