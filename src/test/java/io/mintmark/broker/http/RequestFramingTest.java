package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Stream;

class RequestFramingTest {
    private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String POST = "POST /read HTTP/1.1\r\nHost: a\r\n";
    @AutoClose private static final GuardedServer server = GuardedServer.withLongTimeouts();

    @ParameterizedTest(name = "{0}")
    @MethodSource("badRequests")
    void a_request_whose_end_is_in_doubt_is_the_last(String name, int status, String request)
            throws IOException {
        server.forgetRequests();
        try (RawClient client = server.client()) {
            client.send(request + SMUGGLED).finish();

            RawAnswer answer = client.answer();

            assertEquals(status, answer.status());
            assertEquals("INVALID_REQUEST", answer.json().path("error").asText());
            assertEquals("close", answer.header("connection"));
            assertEquals("", client.untilClosed());
        }
        assertFalse(server.requests().contains("/smuggled"), name);
    }

    static Stream<Arguments> badRequests() {
        return Stream.of(resource().split("\n== "))
                .skip(1)
                .map(vector -> vector.split("\n", 2))
                .map(vector -> Arguments.of(vector[0], status(vector[0]), request(vector[1])));
    }

    private static int status(String name) {
        return name.startsWith("411: ") ? 411 : 400;
    }

    /** The bytes that a text of the file stands for. */
    private static String request(String text) {
        String lines = text.endsWith("\n") ? text + "\n" : text;
        return lines.replace("\n", "\r\n")
                .replace("\\x00", "\0")
                .replace("\\x09", "\t")
                .replace("\\x0a", "\n")
                .replace("\\x0b", "\u000b")
                .replace("\\x0d", "\r");
    }

    private static String resource() {
        try (InputStream in =
                RequestFramingTest.class.getResourceAsStream("/http/bad-framing.txt")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 5\r\n\r\nhello",
                "Content-Length:5 \r\n\r\nhello",
                "content-length: 005\r\n\r\nhello",
            })
    void a_body_of_known_length_is_read_and_the_connection_goes_on(String rest) throws IOException {
        try (RawClient client = server.client()) {
            client.send(POST + rest + POST + rest);

            assertEquals("read 5", client.answer().body());
            assertEquals("read 5", client.answer().body());
        }
    }

    @Test
    void a_body_may_come_in_any_pieces() throws IOException {
        String request = POST + "Content-Length: 5\r\n\r\nhello";
        try (RawClient client = server.client()) {
            for (int i = 0; i < request.length(); i++) {
                client.send(request.substring(i, i + 1));
            }

            assertEquals("read 5", client.answer().body());
            assertEquals(200, client.send("GET /ok HTTP/1.1\r\nHost: a\r\n\r\n").answer().status());
        }
    }
}
