package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What a collector receives of a mint, by OTLP over HTTP. Texts in it are plain UTF-8. */
class TracesTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String ENDPOINT = "otel.exporter.otlp.endpoint";
    private static final List<String> STEPS =
            List.of(
                    "request",
                    "verify_token",
                    "decide",
                    "commit_intent",
                    "call_provider",
                    "commit_outcome");

    private final Queue<byte[]> received = new ConcurrentLinkedQueue<>();
    private HttpServer collector;

    @BeforeEach
    void start() throws IOException {
        collector =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        collector.createContext(
                "/v1/traces",
                exchange -> {
                    received.add(exchange.getRequestBody().readAllBytes());
                    exchange.sendResponseHeaders(200, -1);
                    exchange.close();
                });
        collector.start();
        System.setProperty(ENDPOINT, "http://localhost:" + collector.getAddress().getPort());
        System.setProperty("otel.bsp.schedule.delay", "100");
    }

    @AfterEach
    void stop() {
        System.clearProperty(ENDPOINT);
        System.clearProperty("otel.bsp.schedule.delay");
        collector.stop(0);
    }

    private static int mint(World world, String parent, String token) {
        return world.broker()
                .post(
                        "{\"keys\":[\"api\"]}",
                        "Authorization",
                        "Bearer " + token,
                        "traceparent",
                        parent)
                .status();
    }

    private static String token(World world) {
        return world.issuer().sign(World.SUBJECT, World.AUDIENCE);
    }

    /** One character for each byte. */
    private String sent() {
        StringBuilder text = new StringBuilder();
        received.forEach(bytes -> text.append(new String(bytes, StandardCharsets.ISO_8859_1)));
        return text.toString();
    }

    private static String bytes(String hex) {
        return new String(HexFormat.of().parseHex(hex), StandardCharsets.ISO_8859_1);
    }

    @Test
    void a_collector_sees_each_step_of_a_mint_below_the_clients_span() {
        try (World world = new World()) {
            String token = token(world);
            assertEquals(200, mint(world, "00-" + TRACE + "-00f067aa0ba902b7-01", token));

            Eventually.holds(() -> STEPS.stream().allMatch(sent()::contains));
            assertTrue(sent().contains(bytes(TRACE)));
            assertTrue(sent().contains(bytes("00f067aa0ba902b7")));
            for (String attribute : List.of("acme", "api", "mintmark.mint_id", "Minted")) {
                assertTrue(sent().contains(attribute), attribute);
            }
            assertFalse(sent().contains(World.SUBJECT));
            assertFalse(sent().contains(token));
        }
    }

    @Test
    void of_a_rejected_token_nothing_is_sent_and_a_broken_parent_begins_a_trace_of_its_own() {
        try (World world = new World()) {
            String forged = token(world) + "x";
            assertEquals(401, mint(world, "00-" + TRACE + "-nonsense-01", forged));

            Eventually.holds(() -> sent().contains("verify_token"));
            assertFalse(sent().contains(bytes(TRACE)));
            assertFalse(sent().contains("mintmark.tenant"));
        }
    }

    @Test
    void what_its_client_did_not_sample_is_not_sent() {
        try (World world = new World()) {
            String parent = "00-" + TRACE + "-00f067aa0ba902b7-00";
            assertEquals(200, mint(world, parent, token(world)));
            assertEquals(200, world.broker().get("/health").status());

            Eventually.holds(() -> sent().contains("/health"));
            assertFalse(sent().contains("commit_intent"));
        }
    }

    @Test
    void without_its_collector_the_broker_mints() {
        collector.stop(0);
        try (World world = new World()) {
            String parent = "00-" + TRACE + "-00f067aa0ba902b7-01";
            assertEquals(200, mint(world, parent, token(world)));
        }
    }
}
