package io.mintmark.logging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.config.LogSettings;
import io.mintmark.config.LogSettings.LogFormat;
import io.mintmark.config.LogSettings.LogLevel;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;

class LoggingTest {
    private static final Logger OURS = LoggerFactory.getLogger("io.mintmark.exchange.Exchange");
    private static final String JWT = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln";

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    @AfterEach
    void restore() throws IOException {
        MDC.clear();
        Thread.setDefaultUncaughtExceptionHandler(null);
        LogManager.getLogManager().readConfiguration();
    }

    @Test
    void a_message_is_one_json_object_on_one_line() throws IOException {
        install(LogFormat.JSON, LogLevel.INFO);
        MDC.put("requestId", "r-1");
        MDC.put("tenant", "acme");

        OURS.warn("two\nlines \u2028 of {}", "ünïcode \"quoted\"", new IOException("gone"));

        assertTrue(onlyLine().chars().allMatch(character -> character < 0x7f), this::onlyLine);
        JsonNode line = json(onlyLine());
        assertTrue(Instant.parse(line.path("time").asText()).isBefore(Instant.MAX));
        assertEquals("warning", line.path("level").asText());
        assertEquals("io.mintmark.exchange.Exchange", line.path("logger").asText());
        assertEquals("two\nlines \u2028 of ünïcode \"quoted\"", line.path("message").asText());
        assertEquals("r-1", line.path("requestId").asText());
        assertEquals("acme", line.path("tenant").asText());
        assertTrue(line.path("exception").asText().startsWith("java.io.IOException: gone\n\tat "));
    }

    @Test
    void what_there_is_not_is_left_out() throws IOException {
        install(LogFormat.JSON, LogLevel.INFO);

        OURS.info("hello");

        assertEquals(
                List.of("time", "level", "logger", "message"),
                json(onlyLine()).propertyStream().map(Map.Entry::getKey).toList());
    }

    @Test
    void a_readable_line_is_for_people_and_cannot_be_forged() {
        install(LogFormat.TEXT, LogLevel.INFO);
        MDC.put("requestId", "r-1");

        OURS.info("first\nsecond");

        String line = onlyLine();
        assertTrue(line.matches("[\\d:.]{12} INFO    first\\?second \\[r-1 Exchange]"), line);
    }

    @Test
    void a_readable_exception_stands_below_its_line() {
        install(LogFormat.TEXT, LogLevel.INFO);

        OURS.error("failed", new IOException("gone"));

        List<String> lines = lines();
        assertTrue(lines.get(0).endsWith(" ERROR   failed [Exchange]"), lines.get(0));
        assertEquals("java.io.IOException: gone", lines.get(1));
    }

    @Test
    void the_level_is_that_of_our_messages() {
        install(LogFormat.TEXT, LogLevel.WARNING);
        OURS.info("hidden");
        assertEquals(List.of(), lines());

        install(LogFormat.TEXT, LogLevel.DEBUG);
        OURS.debug("shown");
        assertEquals(1, lines().size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.apache.hc.client5.http.wire",
                "org.apache.hc.client5.http.headers",
                "software.amazon.awssdk.request",
                "software.amazon.awssdk.core.interceptor.ExecutionInterceptorChain",
                "com.nimbusds.jose",
                "org.postgresql.core.v3.QueryExecutorImpl",
                "com.zaxxer.hikari.HikariConfig",
                "org.flywaydb.core.FlywayExecutor",
                "io.helidon.webserver.ServerListener",
                "jdk.event.security",
                "io.mintmarket",
            })
    void libraries_show_nothing_below_warnings_even_when_somebody_turns_them_up(String name) {
        install(LogFormat.JSON, LogLevel.DEBUG);
        java.util.logging.Logger library = java.util.logging.Logger.getLogger(name);
        library.setLevel(Level.ALL);

        library.finest("Authorization: Bearer x");
        library.fine("Authorization: Bearer x");
        library.info("Authorization: Bearer x");
        assertEquals(List.of(), lines());

        library.warning("something is wrong");
        assertEquals(1, lines().size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                JWT,
                "token " + JWT + ".",
                "GET /credentials/keys?a=b&token=a.b.c HTTP/1.1",
                "Authorization: Bearer opaque0123456789",
                "{\"oidcToken\":\"" + JWT + "\"}",
            })
    void what_looks_like_a_token_is_taken_out(String message) {
        for (LogFormat format : LogFormat.values()) {
            install(format, LogLevel.INFO);

            OURS.info(message, new IOException(message));

            String all = log.toString(StandardCharsets.UTF_8);
            assertFalse(all.contains("eyJ") || all.contains("a.b.c"), all);
            assertFalse(all.contains("opaque"), all);
        }
    }

    @Test
    void a_dying_thread_is_a_line_like_any_other() throws Exception {
        install(LogFormat.JSON, LogLevel.INFO);
        Runnable failing =
                () -> {
                    throw new IllegalStateException("broken");
                };

        Thread thread = Thread.ofPlatform().name("worker").start(failing);
        thread.join();

        assertEquals("thread 'worker' died", json(onlyLine()).path("message").asText());
    }

    @Test
    void a_record_without_a_logger_or_message_is_still_a_line() throws IOException {
        LogRecord record = new LogRecord(Level.CONFIG, null);

        JsonNode line = json(new JsonLines().format(record));

        assertEquals("debug", line.path("level").asText());
        assertEquals("", line.path("message").asText());
    }

    private void install(LogFormat format, LogLevel level) {
        log.reset();
        Logging.install(new LogSettings(format, level), log);
    }

    private List<String> lines() {
        return log.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private String onlyLine() {
        List<String> lines = lines();
        assertEquals(1, lines.size(), lines::toString);
        return lines.getFirst();
    }

    private static JsonNode json(String line) throws IOException {
        return new ObjectMapper().readTree(line);
    }
}
