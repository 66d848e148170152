package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.broker.token.LogBook;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;

/** What the log says of requests that fail. */
class FailuresTest {

    /** Clients repeat what fails, and one that means harm does so quickly. */
    @Test
    void a_reason_is_logged_once_for_all_requests_that_it_fails() throws IOException {
        try (GuardedServer server = GuardedServer.withLongTimeouts();
                RawClient client = server.client();
                LogBook log = LogBook.open()) {
            for (String what : List.of("This", "This", "That", "This", "That")) {
                client.send("GET /unavailable/" + what + " HTTP/1.1\r\nHost: a\r\n\r\n");
                assertEquals(503, client.answer().status());
            }

            assertEquals(1, count("This is away", log));
            assertEquals(1, count("That is away", log));
        }
    }

    private static long count(String message, LogBook log) {
        return Pattern.compile(Pattern.quote(message)).matcher(log.text()).results().count();
    }
}
