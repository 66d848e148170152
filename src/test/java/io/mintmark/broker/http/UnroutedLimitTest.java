package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.Map;

/** Requests that no filter sees count against the rate limits of their addresses too. */
class UnroutedLimitTest {
    private static final String MALFORMED = "GET /health HTTP/1.1\r\nHost: a b\r\n";
    private static final String GOOD = "GET /nothing HTTP/1.1\r\nHost: a\r\n";

    @AutoClose private static World world;

    @BeforeAll
    static void start() {
        world =
                new World(
                        Map.of(
                                "RATE_LIMIT_ENABLED", "true",
                                "RATE_LIMIT_REQUESTS", "3",
                                "RATE_LIMIT_WINDOW", "PT1H",
                                "RATE_LIMIT_EXEMPT", "203.0.113.0/24, 2001:db8::/32",
                                "TRUSTED_PROXIES", "127.0.0.1/32"));
    }

    private static RawAnswer ask(String request) throws IOException {
        try (RawClient client = new RawClient(world.broker().url().getPort())) {
            return client.send(request).answer();
        }
    }

    private static RawAnswer ask(String request, String client) throws IOException {
        return ask(request + "X-Forwarded-For: " + client + "\r\n\r\n");
    }

    @Test
    void malformed_requests_count_and_then_the_good_ones_of_their_address_are_denied()
            throws IOException {
        for (int left = 2; left >= 0; left--) {
            RawAnswer answer = ask(MALFORMED, "198.51.100.1");
            assertEquals(400, answer.status());
            assertEquals(Integer.toString(left), answer.header("x-ratelimit-remaining"));
        }

        for (String request : new String[] {MALFORMED, GOOD}) {
            RawAnswer denied = ask(request, "198.51.100.1");
            assertEquals(429, denied.status());
            assertEquals("RATE_LIMIT_EXCEEDED", denied.json().path("error").asText());
            assertEquals("0", denied.header("x-ratelimit-remaining"));
            assertEquals(denied.header("retry-after"), denied.json().path("retryAfter").asText());
        }
        assertEquals(404, ask(GOOD, "198.51.100.2").status());
    }

    @Test
    void a_request_whose_headers_cannot_be_read_counts_against_its_peer() throws IOException {
        for (int i = 0; i < 3; i++) {
            assertEquals(400, ask("nonsense\r\n\r\n").status());
        }
        assertEquals(429, ask("nonsense\r\n\r\n").status());
        assertEquals(404, ask(GOOD, "198.51.100.3").status());
    }

    @Test
    void a_request_that_fails_behind_the_filters_counts_once() throws IOException {
        String request = "POST /credentials/mint HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n";

        RawAnswer first = ask(request + "X-Forwarded-For: 198.51.100.4\r\n\r\n{");
        RawAnswer second = ask(request + "X-Forwarded-For: 198.51.100.4\r\n\r\n{");

        assertEquals("2", first.header("x-ratelimit-remaining"));
        assertEquals("1", second.header("x-ratelimit-remaining"));
    }

    @Test
    void exempt_networks_have_no_limit() throws IOException {
        for (String client : new String[] {"203.0.113.7", "2001:db8:1::7"}) {
            for (int i = 0; i < 5; i++) {
                RawAnswer good = ask(GOOD, client);
                assertEquals(404, good.status());
                assertFalse(good.headers().containsKey("x-ratelimit-limit"));
                assertEquals(400, ask(MALFORMED, client).status());
            }
        }
    }
}
