package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/** An error of the program itself, before a filter or a route has seen the request. */
class UnroutedFailureTest {
    private static final String HOST = " HTTP/1.1\r\nHost: a\r\n";

    /** A connection asks for the time when it begins, twice, with its first bytes, and then. */
    private static final int HEADERS_ARE_READ = 5;

    @Test
    void a_failure_before_any_route_has_the_interfaces_body_too() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        LongSupplier nanoTime =
                () -> {
                    boolean ofConnection = Thread.currentThread().isVirtual();
                    if (ofConnection && asked.incrementAndGet() == HEADERS_ARE_READ) {
                        throw new StackOverflowError();
                    }
                    return System.nanoTime();
                };
        try (GuardedServer failing = new GuardedServer(GuardedServer.bounds(64, 64), nanoTime);
                RawClient client = failing.client()) {
            RawAnswer answer =
                    client.send("GET /ok" + HOST + "X-Request-ID: mine-1\r\n\r\n").answer();

            assertEquals(500, answer.status());
            assertEquals("INTERNAL_ERROR", answer.json().path("error").asText());
            assertEquals("mine-1", answer.json().path("requestId").asText());
            assertEquals("mine-1", answer.header("x-request-id"));
            assertEquals("no-store", answer.header("cache-control"));
            assertEquals("", client.untilClosed());
            assertEquals(1, failing.takeWarnings().size());
        }
    }
}
