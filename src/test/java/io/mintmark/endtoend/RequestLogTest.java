package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.config.LogSettings;
import io.mintmark.base.config.LogSettings.LogFormat;
import io.mintmark.base.config.LogSettings.LogLevel;
import io.mintmark.base.logging.Logging;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What operators' tools find in the log about a request. */
@ResourceLock(Resources.SYSTEM_ERR)
class RequestLogTest {
    private final PrintStream usual = System.err;
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    @BeforeEach
    void install() {
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        Logging.install(new LogSettings(LogFormat.JSON, LogLevel.INFO));
    }

    @AfterEach
    void restore() {
        System.setErr(usual);
        Logging.install(new LogSettings(LogFormat.TEXT, LogLevel.WARNING));
    }

    private List<JsonNode> lines(String requestId) {
        return log.toString(StandardCharsets.UTF_8)
                .lines()
                .map(RequestLogTest::json)
                .filter(line -> requestId.equals(line.path("requestId").asText()))
                .toList();
    }

    private static JsonNode json(String line) {
        try {
            return new ObjectMapper().readTree(line);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(line, e);
        }
    }

    /** The line of the answer is written when it has been sent, so perhaps a moment later. */
    private JsonNode answered(String requestId) {
        Eventually.holds(() -> lines(requestId).stream().anyMatch(line -> line.has("status")));
        return lines(requestId).getLast();
    }

    @Test
    void an_answered_request_has_a_line_whose_fields_can_be_reckoned_with() {
        try (World world = new World()) {
            Answer answer =
                    world.broker()
                            .get(
                                    "/credentials/keys?x=hunter2",
                                    "X-Request-ID",
                                    "r-1",
                                    "Authorization",
                                    "Bearer " + world.token());
            assertEquals(200, answer.status());

            JsonNode line = answered("r-1");
            assertEquals("GET", line.path("method").asText());
            assertEquals("/credentials/keys", line.path("route").asText());
            assertEquals(200, line.path("status").intValue());
            assertTrue(line.path("status").isNumber());
            assertTrue(line.path("milliseconds").isNumber());
            assertEquals("127.0.0.1", line.path("address").asText());
            assertEquals(World.SUBJECT, line.path("subject").asText());
            assertEquals("acme", line.path("tenant").asText());
            assertFalse(line.toString().contains("hunter2"));
        }
    }

    private void assertCause(
            String requestId, int status, String error, String reason, String key) {
        JsonNode line = answered(requestId);
        assertEquals(status, line.path("status").intValue(), line.toString());
        assertEquals(error, line.path("error").asText(), line.toString());
        assertEquals(reason, line.path("reason").asText(), line.toString());
        assertEquals(key, line.path("key").asText(), line.toString());
    }

    @Test
    void the_line_of_a_refused_request_says_why() throws IOException {
        try (World world = new World()) {
            RunningBroker broker = world.broker();
            mint(broker, "c-1", world.expiredToken(), "api");
            mint(broker, "c-2", "not-a-token", "api");
            mint(broker, "c-3", world.token(), "spare");
            mint(broker, "c-4", world.token(), "nothing");
            mint(broker, "c-5", world.token(), "9");
            mint(broker, "c-6", world.token(), "api");
            broker.get("/nothing", "X-Request-ID", "c-7");
            try (Socket client =
                    new Socket(InetAddress.getLoopbackAddress(), broker.url().getPort())) {
                client.getOutputStream()
                        .write(
                                "GET / HTTP/1.0\r\nHost: a\r\n\r\n"
                                        .getBytes(StandardCharsets.US_ASCII));
                client.getInputStream().readAllBytes();
            }

            assertCause("c-1", 401, "UNAUTHORIZED", "token_expired", "api");
            assertCause("c-2", 401, "UNAUTHORIZED", "malformed_jwt", "api");
            assertCause("c-3", 403, "FORBIDDEN", "keys_denied", "spare");
            assertCause("c-4", 404, "NOT_FOUND", "keys_missing", "nothing");
            assertCause("c-5", 400, "INVALID_REQUEST", "bad_elements", "");
            assertCause("c-6", 200, "", "", "api");
            assertTrue(answered("c-7").path("reason").asText().startsWith("Unknown path"));
            for (String recorded : List.of("c-1", "c-3", "c-4", "c-6")) {
                Eventually.holds(() ->
                        world.column(
                                        """
                                        SELECT DISTINCT mint_id FROM audit.event WHERE request_id = '%s'
                                        EXCEPT SELECT mint_id FROM audit.event WHERE reason = 'decided_again'
                                        """
                                                .formatted(recorded))
                                .equals(List.of(answered(recorded).path("mintId").asText())));
            }
            Eventually.holds(() ->
                    log.toString(StandardCharsets.UTF_8)
                            .lines()
                            .map(RequestLogTest::json)
                            .anyMatch(line ->
                                    line.path("status").intValue() == 400
                                            && line.path("reason")
                                                    .asText()
                                                    .startsWith("HTTP/1.0 is not supported")));
        }
    }

    private static void mint(RunningBroker broker, String requestId, String token, String key) {
        broker.post(
                "{\"keys\":[\"" + key + "\"]}",
                "X-Request-ID",
                requestId,
                "Authorization",
                "Bearer " + token);
    }

    @Test
    void an_issuer_that_is_down_is_told_without_a_stack_trace() {
        try (World world = new World()) {
            String token = world.token();
            world.issuer().close();
            Answer answer =
                    world.broker()
                            .get(
                                    "/credentials/keys",
                                    "X-Request-ID",
                                    "r-2",
                                    "Authorization",
                                    "Bearer " + token);
            assertEquals(503, answer.status());

            answered("r-2");
            JsonNode warning = lines("r-2").getFirst();
            assertEquals("warning", warning.path("level").asText());
            assertFalse(warning.has("exception"), warning.toString());
            assertTrue(lines("r-2").stream().noneMatch(line -> line.toString().contains("\\tat ")));
        }
    }
}
