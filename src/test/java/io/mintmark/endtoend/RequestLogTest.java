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
import java.io.PrintStream;
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
