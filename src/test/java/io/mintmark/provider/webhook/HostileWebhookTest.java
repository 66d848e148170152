package io.mintmark.provider.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.RawServer;
import io.mintmark.base.outbound.RawServer.Service;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/** Services that speak HTTP as no honest one does. */
class HostileWebhookTest {
    private static final Duration HASTY = Duration.ofSeconds(2);

    private static final String INTERIM = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @Test
    void a_second_answer_to_one_request_is_not_taken_for_the_next() throws IOException {
        try (RawServer server =
                serving((client, out) -> {
                    while (!RawServer.request(client.getInputStream()).isEmpty()) {
                        write(out, made("honest") + made("planted"));
                    }
                })) {
            for (int i = 0; i < 3; i++) {
                Minted minted = broker.minted(order(server));
                assertEquals(new Secret("honest"), minted.fields().get("A"));
            }
        }
    }

    @Test
    void an_answer_that_drips_costs_no_more_than_the_deadline() throws IOException {
        try (RawServer server =
                serving((client, out) -> {
                    RawServer.request(client.getInputStream());
                    for (byte each : made("slow").getBytes(StandardCharsets.US_ASCII)) {
                        out.write(each);
                        out.flush();
                        Thread.sleep(2_000);
                    }
                })) {
            // the whole answer takes over five minutes
            Instant before = Instant.now();

            broker.assertFailed(Reason.PROVIDER_TIMEOUT, order(server).within(HASTY));
            Duration took = Duration.between(before, Instant.now());
            assertTrue(took.compareTo(Eventually.PATIENCE) < 0, took::toString);
        }
    }

    @Test
    void interim_answers_without_end_are_read_no_further() throws IOException {
        AtomicInteger left = new AtomicInteger();
        try (RawServer server =
                serving((client, out) -> {
                    RawServer.request(client.getInputStream());
                    try {
                        while (true) {
                            write(out, INTERIM);
                        }
                    } finally {
                        left.incrementAndGet();
                    }
                })) {
            broker.assertFailed(Reason.PROVIDER_UNREACHABLE, order(server));
            // both connections were ended, and before the deadline
            assertEquals(2, server.connections());
            Eventually.holds(() -> left.get() == 2);
        }
    }

    @Test
    void a_few_interim_answers_do_no_harm() throws IOException {
        try (RawServer server =
                serving((client, out) -> {
                    while (!RawServer.request(client.getInputStream()).isEmpty()) {
                        write(out, INTERIM.repeat(8) + made("late"));
                    }
                })) {
            for (int i = 0; i < 2; i++) {
                assertEquals(new Secret("late"), broker.minted(order(server)).fields().get("A"));
            }
        }
    }

    @Test
    void endless_headers_and_headers_without_end_are_refused() throws IOException {
        for (String header :
                new String[] {"X: " + "x".repeat(5_000_000), "X: y\r\n".repeat(500_000)}) {
            try (RawServer server =
                    serving((client, out) -> {
                        RawServer.request(client.getInputStream());
                        write(out, "HTTP/1.1 201 Created\r\n" + header + "\r\n\r\n{}");
                    })) {
                broker.failed(order(server));
            }
        }
    }

    @Test
    void a_service_that_always_forgets_to_answer_is_asked_twice() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        try (RawServer server =
                serving((client, _) -> {
                    RawServer.request(client.getInputStream());
                    asked.incrementAndGet();
                })) {
            broker.assertFailed(Reason.PROVIDER_UNREACHABLE, order(server));
            assertEquals(2, asked.get());
        }
    }

    @Test
    void an_answer_that_breaks_off_is_asked_for_again() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        try (RawServer server =
                serving((client, out) -> {
                    RawServer.request(client.getInputStream());
                    String answer = made("whole");
                    write(
                            out,
                            asked.incrementAndGet() == 1
                                    ? answer.substring(0, answer.length() - 9)
                                    : answer);
                })) {
            assertEquals(new Secret("whole"), broker.minted(order(server)).fields().get("A"));
        }
    }

    /** What is done with a connection. */
    private interface Conduct {
        void with(Socket client, OutputStream out) throws IOException, InterruptedException;
    }

    private static RawServer serving(Conduct conduct) throws IOException {
        Service service = client -> conduct.with(client, client.getOutputStream());
        return RawServer.serving(service);
    }

    private static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.US_ASCII));
        out.flush();
    }

    private static String made(String value) {
        String body =
                "{\"values\":{\"A\":\"%s\"},\"expiresAt\":\"%s\",\"credentialId\":\"id\"}"
                        .formatted(value, Instant.now().plusSeconds(60));
        return "HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(body.length(), body);
    }

    private static Orders order(RawServer server) {
        return Orders.of(
                        "webhook",
                        "{'endpoint':'%s','fields':['A']}".formatted(server.origin()),
                        "{'target':'a'}")
                .within(Eventually.PATIENCE);
    }
}
