package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

class DirectErrorsTest {
    private static final String HOST = " HTTP/1.1\r\nHost: a\r\n";
    private static final String MALFORMED =
            "The request is not valid HTTP/1.1, its length is ambiguous, its body is encoded, or"
                    + " its path or headers are too long.";
    private static final String TOO_LONG = "The body is longer than 64 KiB.";
    @AutoClose private static final GuardedServer server = GuardedServer.withLongTimeouts();

    @Test
    void an_error_has_the_interfaces_body_and_nothing_of_the_servers_own_words()
            throws IOException {
        RawAnswer answer = answerTo("nonsense <script>\r\n\r\n");

        JsonNode body = answer.json();
        assertEquals(
                List.of("error", "message", "requestId", "timestamp"),
                body.propertyStream().map(Map.Entry::getKey).toList());
        assertEquals("INVALID_REQUEST", body.path("error").asText());
        assertEquals(MALFORMED, body.path("message").asText());
        assertEquals(GuardedServer.NOW.toString(), body.path("timestamp").asText());
        assertEquals("application/json", answer.header("content-type"));
        assertEquals("no-store", answer.header("cache-control"));
        assertEquals("nosniff", answer.header("x-content-type-options"));
        assertEquals(body.path("requestId").asText(), answer.header("x-request-id"));
        assertFalse(answer.headers().containsKey("server"));
    }

    @Test
    void a_refused_request_keeps_its_id() throws IOException {
        String headers = HOST + "X-Request-ID: mine-1\r\nContent-Length: ";

        assertEquals(
                "mine-1", answerTo("POST /read" + headers + "x\r\n\r\n").header("x-request-id"));
        assertEquals(
                "mine-1",
                answerTo("POST /read" + headers + "70000\r\n\r\n").header("x-request-id"));
        assertTrue(
                answerTo("POST /read" + HOST + "X-Request-ID: <b>\r\nContent-Length: x\r\n\r\n")
                        .header("x-request-id")
                        .matches("[0-9a-f-]{36}"));
    }

    @ParameterizedTest
    @CsvSource({
        "GET /ok?a=<b>",
        "GET /ok#a",
        "GET /ok?a=%zz",
        "GET /%zz",
        "GET /ok\\x00",
        "GET http://[::1/ok",
    })
    void a_malformed_target_is_refused(String start) throws IOException {
        assertRefused(400, MALFORMED, start.replace("\\x00", "\0") + HOST + "\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /ok?x=a:b", "GET http://a/ok?x=a:b", "GET HTTPS://b:443/ok"})
    void a_target_of_any_form_and_character_of_the_rfcs_is_answered(String start)
            throws IOException {
        assertEquals(200, answerTo(start + HOST + "\r\n").status());
    }

    @Test
    void the_host_of_a_target_goes_before_the_header_which_must_be_valid_all_the_same()
            throws IOException {
        assertEquals("a", answerTo("GET /host" + HOST + "\r\n").body());
        assertEquals("b:80", answerTo("GET http://b:80/host" + HOST + "\r\n").body());
        String start = "GET http://b/host HTTP/1.1\r\n";
        assertRefused(400, MALFORMED, start + "\r\n");
        assertRefused(400, MALFORMED, start + "Host: a b\r\n\r\n");
        assertRefused(400, MALFORMED, start + "Host: b\r\nHost: b\r\n\r\n");
    }

    @Test
    void the_host_of_a_target_is_that_of_its_request_alone() throws IOException {
        try (RawClient client = server.client()) {
            client.send("GET http://b/host" + HOST + "\r\n" + "GET /host" + HOST + "\r\n");

            assertEquals("b", client.answer().body());
            assertEquals("a", client.answer().body());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "G\u00c4T /ok",
                "G(T /ok",
                " /ok",
                "GET",
                "\u00a0",
                "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG /ok"
            })
    void a_malformed_method_is_refused(String start) throws IOException {
        assertRefused(400, MALFORMED, start + HOST + "\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "a:b", "[::1", "a/b", "<a>"})
    void a_malformed_host_is_refused(String host) throws IOException {
        assertRefused(400, MALFORMED, "GET /ok HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    }

    @Test
    void a_line_that_is_too_long_is_refused() throws IOException {
        assertRefused(
                414,
                "The request's first line is too long.",
                "GET /ok?token=" + "a".repeat(1_000_000) + HOST + "\r\n");
    }

    @Test
    void the_longest_token_fits_into_the_line_and_into_a_header() throws IOException {
        String token = "a".repeat(16 * 1024);

        assertEquals(200, answerTo("GET /ok?token=" + token + HOST + "\r\n").status());
        assertEquals(
                200,
                answerTo("GET /ok" + HOST + "Authorization: Bearer " + token + "\r\n\r\n")
                        .status());
    }

    @Test
    void headers_that_are_too_long_are_refused() throws IOException {
        assertRefused(
                400, MALFORMED, "GET /ok" + HOST + "X: " + "a".repeat(1_000_000) + "\r\n\r\n");
        assertRefused(400, MALFORMED, "GET /ok" + HOST + "X: a\r\n".repeat(100_000) + "\r\n");
        assertRefused(400, MALFORMED, "GET /ok" + HOST + "X".repeat(1_000_000) + ": a\r\n\r\n");
        assertRefused(400, MALFORMED, "GET /ok" + HOST + "X".repeat(129) + ": a\r\n\r\n");
        assertRefused(400, MALFORMED, "GET /ok" + HOST + "X: " + "a".repeat(20_481) + "\r\n\r\n");
        assertRefused(400, MALFORMED, "GET /ok" + HOST + "X: a\r\n".repeat(128) + "\r\n");
        assertEquals(200, answerTo("GET /ok" + HOST + "X: a\r\n".repeat(127) + "\r\n").status());
    }

    @Test
    void a_body_that_is_too_long_is_refused_by_its_length() throws IOException {
        assertRefused(
                413,
                TOO_LONG,
                "POST /read" + HOST + "Content-Length: 1000000\r\n\r\n" + "a".repeat(1_000_000));
    }

    @Test
    void a_proxy_that_speaks_http_1_0_is_told_which_setting_it_needs() throws IOException {
        assertRefused(
                400,
                "HTTP/1.0 is not supported; send HTTP/1.1. Let a proxy in front of the broker use HTTP/1.1; in nginx, set proxy_http_version 1.1.",
                "GET /ok HTTP/1.0\r\nHost: localhost\r\n\r\n");
    }

    @Test
    void a_body_of_unknown_length_is_refused() throws IOException {
        String chunk = "1000\r\n" + "a".repeat(0x1000) + "\r\n";

        assertRefused(
                411,
                "A body needs a Content-Length; Transfer-Encoding is not accepted. A proxy in front of the broker must buffer bodies and send their length.",
                "POST /read" + HOST + "Transfer-Encoding: chunked\r\n\r\n" + chunk.repeat(200));
    }

    @Test
    void an_answer_to_what_is_no_request_has_nothing_of_the_request_before() throws IOException {
        try (RawClient client = server.client()) {
            client.send("HEAD /ok" + HOST + "X-Request-ID: before\r\n\r\n" + "(bad)\r\n\r\n");
            assertEquals(404, client.head().status());

            RawAnswer answer = client.answer();

            assertEquals(MALFORMED, answer.json().path("message").asText());
            assertNotEquals("before", answer.header("x-request-id"));
        }
    }

    @Test
    void a_compressed_body_is_refused() throws IOException {
        assertRefused(
                400,
                MALFORMED,
                "POST /read" + HOST + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello");
    }

    @Test
    void too_many_requests_at_a_time_are_answered_after_a_while()
            throws IOException, InterruptedException {
        List<RawClient> clients = new ArrayList<>();
        try (GuardedServer small = new GuardedServer(GuardedServer.bounds(64, 16))) {
            for (int i = 0; i < 16; i++) {
                clients.add(small.client().send("GET /wait" + HOST + "\r\n"));
            }
            while (small.requests().size() < 16) {
                Thread.onSpinWait();
            }
            try (RawClient client = small.client()) {
                RawAnswer answer = client.send("GET /ok" + HOST + "\r\n").answer();

                assertEquals(503, answer.status());
                assertEquals("1", answer.header("retry-after"));
                assertEquals(1, answer.json().path("retryAfter").asInt());
                assertEquals("SERVICE_UNAVAILABLE", answer.json().path("error").asText());
            }
            assertBusyInItsOwnWords(small);
            small.go();
            for (RawClient client : clients) {
                assertEquals("waited", client.answer().body());
                client.close();
            }
        }
    }

    private static void assertBusyInItsOwnWords(GuardedServer full) throws IOException {
        try (RawClient client = full.client()) {
            String head = HOST + "X-Request-ID: mine-1\r\n";
            RawAnswer oauth =
                    client.send("POST /oauth2/token" + head + "Content-Length: 0\r\n\r\n").answer();
            assertEquals(503, oauth.status());
            assertEquals("temporarily_unavailable", oauth.json().path("error").asText());
            assertTrue(oauth.json().path("error_description").asText().contains("mine-1"));
            assertEquals("1", oauth.header("retry-after"));
            assertEquals("mine-1", oauth.header("x-request-id"));
        }
        try (RawClient client = full.client()) {
            RawAnswer sdk = client.send("GET /sdk/aws/deploy?x=1" + HOST + "\r\n").answer();
            assertEquals(503, sdk.status());
            assertEquals("SERVICE_UNAVAILABLE", sdk.json().path("code").asText());
            assertEquals("1", sdk.header("retry-after"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "Host: a b, 400",
        "X: TOO-LONG, 400",
        "Content-Length: x, 400",
        "Content-Length: 70000, 413",
        "Transfer-Encoding: chunked, 411",
    })
    void what_is_refused_before_its_route_is_told_in_its_protocols_words(String header, int status)
            throws IOException {
        String rest = " HTTP/1.1\r\n" + header.replace("TOO-LONG", "a".repeat(100_000)) + "\r\n";
        String host = header.startsWith("Host") ? "" : "Host: a\r\n";

        RawAnswer oauth = answerTo("POST /oauth2/token" + rest + host + "\r\n");
        assertEquals(status, oauth.status());
        assertEquals("invalid_request", oauth.json().path("error").asText());
        RawAnswer sdk = answerTo("GET /sdk/aws/deploy" + rest + host + "\r\n");
        assertEquals(status, sdk.status());
        assertEquals("INVALID_REQUEST", sdk.json().path("code").asText());
        RawAnswer own = answerTo("GET /credentials/keys" + rest + host + "\r\n");
        assertEquals(status, own.status());
        assertTrue(own.json().path("code").isMissingNode());
    }

    private static void assertRefused(int status, String message, String request)
            throws IOException {
        RawAnswer answer = answerTo(request);

        assertEquals(status, answer.status());
        assertEquals("INVALID_REQUEST", answer.json().path("error").asText());
        assertEquals(message, answer.json().path("message").asText());
        assertEquals("close", answer.header("connection"));
    }

    /** Clients often send all that they have before they read: that must not fail. */
    private static RawAnswer answerTo(String request) throws IOException {
        try (RawClient client = server.client()) {
            return client.send(request).answer();
        }
    }

    @Test
    void what_is_no_method_may_stand_in_a_header() throws IOException {
        String request = "GET /ok" + HOST + "Connection: keep-alive\r\n\r\n";
        try (RawClient client = server.client()) {
            assertEquals(200, client.send(request).answer().status());
            assertEquals(200, client.send(request + request).answer().status());
            assertEquals(200, client.answer().status());
        }
    }
}
