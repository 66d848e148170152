package io.mintmark.base.logging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.base.config.LogSettings;
import io.mintmark.base.config.LogSettings.LogFormat;
import io.mintmark.base.config.LogSettings.LogLevel;

import org.jspecify.annotations.Nullable;
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
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;

class LoggingTest {
    private static final Logger OURS =
            LoggerFactory.getLogger("io.mintmark.broker.exchange.Exchange");
    private static final String JWT = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln";

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    @AfterEach
    void restore() throws IOException {
        MDC.clear();
        Thread.setDefaultUncaughtExceptionHandler(null);
        LogManager.getLogManager().readConfiguration();
    }

    @Test
    void the_drivers_line_about_a_host_name_is_left_to_the_sentence_that_a_start_prints() {
        install(LogFormat.JSON, LogLevel.INFO);

        LoggerFactory.getLogger("org.postgresql.ssl.PGjdbcHostnameVerifier").error("no match");
        LoggerFactory.getLogger("org.postgresql.ssl.LibPQFactory").error("another one");

        assertTrue(onlyLine().contains("another one"), this::onlyLine);
    }

    @Test
    void a_message_is_one_json_object_on_one_line() throws IOException {
        install(LogFormat.JSON, LogLevel.INFO);
        MDC.put("requestId", "r-1");
        MDC.put("tenant", "acme");
        MDC.put("trace_id", "4bf9");

        OURS.warn("two\nlines \u2028 of {}", "ünïcode \"quoted\"", new IOException("gone"));

        assertTrue(onlyLine().chars().allMatch(character -> character < 0x7f), this::onlyLine);
        JsonNode line = json(onlyLine());
        assertTrue(Instant.parse(line.path("time").asText()).isBefore(Instant.MAX));
        assertEquals("warning", line.path("level").asText());
        assertEquals("io.mintmark.broker.exchange.Exchange", line.path("logger").asText());
        assertEquals("two\nlines \u2028 of ünïcode \"quoted\"", line.path("message").asText());
        assertEquals("r-1", line.path("requestId").asText());
        assertEquals("acme", line.path("tenant").asText());
        assertEquals("4bf9", line.path("trace_id").asText());
        assertTrue(line.path("exception").asText().startsWith("java.io.IOException: gone\n\tat "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"roleSessionName", "oauthClientId"})
    void what_a_client_says_of_itself_is_a_field_without_tokens(String field) throws IOException {
        install(LogFormat.JSON, LogLevel.INFO);
        MDC.put(field, "runner\n" + JWT);

        OURS.info("hello");

        String value = json(onlyLine()).path(field).asText();
        assertTrue(value.startsWith("runner\n") && !value.contains("eyJ"), value);
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
                "POST /sdk/sts?Action=x&WebIdentityToken=a.b.c HTTP/1.1",
                "POST /x?assertion=a.b.c&y=z HTTP/1.1",
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
    void a_stack_has_at_most_4_kib_and_names_every_cause() throws IOException {
        install(LogFormat.JSON, LogLevel.INFO);
        Throwable deep = new IOException("x".repeat(100_000), overflow(2_000));

        OURS.error("failed", new IllegalStateException("outermost", deep));

        String stack = json(onlyLine()).path("exception").asText();
        assertTrue(stack.length() <= 4096, () -> "has " + stack.length());
        assertTrue(stack.startsWith("java.lang.IllegalStateException: outermost\n\tat "), stack);
        assertTrue(stack.contains("\nCaused by: java.io.IOException: xxx"), stack);
        assertTrue(
                stack.contains("\nCaused by: java.lang.StackOverflowError\n\tat io.mintmark."),
                stack);
        assertTrue(stack.matches("(?s).*\\.\\.\\. \\d+ more"), stack);
    }

    private static Throwable overflow(int calls) {
        return calls == 0 ? new StackOverflowError() : overflow(calls - 1);
    }

    @Test
    void what_a_library_logs_with_a_stack_again_and_again_is_one_line_a_minute_and_a_count()
            throws IOException {
        install(LogFormat.JSON, LogLevel.INFO);
        Instant start = Instant.parse("2026-03-04T05:06:07Z");
        MDC.put("requestId", "r-1");
        for (int i = 0; i < 1_000; i++) {
            log(start.plusMillis(i), "io.helidon.a", "failed", new StackOverflowError());
        }
        assertEquals("failed", json(onlyLine()).path("message").asText());

        log(start.plusMillis(1), "io.helidon.b", "failed", new StackOverflowError());
        log(start.plusMillis(1), "io.helidon.a", "failed", new IOException("another kind"));
        log(start.plusMillis(1), "io.helidon.a", "without a stack", null);
        log(start.plusMillis(1), "io.helidon.a", "without a stack", null);
        assertEquals(5, lines().size());

        MDC.put("requestId", "r-2");
        log(start.plusSeconds(60), "io.helidon.a", "failed again", new StackOverflowError());
        JsonNode summary = json(lines().get(5));
        assertEquals(
                "999 more messages like this since 2026-03-04T05:06:07Z: failed,"
                        + " java.lang.StackOverflowError",
                summary.path("message").asText());
        assertEquals("io.helidon.a", summary.path("logger").asText());
        assertTrue(summary.path("requestId").isMissingNode());
        assertEquals("failed again", json(lines().get(6)).path("message").asText());
        assertEquals("r-2", json(lines().get(6)).path("requestId").asText());
        assertEquals(7, lines().size());
    }

    @Test
    void the_count_comes_with_the_next_line_of_any_kind() {
        install(LogFormat.TEXT, LogLevel.INFO);
        Instant start = Instant.parse("2026-03-04T05:06:07Z");
        log(start, "io.helidon.a", "failed", new IOException("x"));
        log(start, "io.helidon.a", "failed", new IOException("x"));
        log.reset();

        log(start.plusSeconds(59), "io.mintmark.x", "hello", null);
        assertEquals(1, lines().size());
        log(start.plusSeconds(61), "io.mintmark.x", "hello", null);
        assertTrue(lines().get(1).contains("1 more messages like this since"), lines()::toString);
        log(start.plusSeconds(200), "io.mintmark.x", "hello", null);
        assertEquals(4, lines().size());
    }

    @Test
    void our_own_failures_are_all_written_and_kinds_of_libraries_are_bounded() {
        install(LogFormat.JSON, LogLevel.INFO);
        Instant now = Instant.parse("2026-03-04T05:06:07Z");
        for (int i = 0; i < 5; i++) {
            log(now, "io.mintmark.broker.http.Failures", "failed", new IOException("x"));
        }
        assertEquals(5, lines().size());

        log.reset();
        for (int i = 0; i < 10_000; i++) {
            log(now, "io.helidon." + i, "failed", new IOException("x"));
        }
        assertEquals(LibraryFailures.MOST_KINDS, lines().size());
    }

    private static void log(Instant at, String logger, String message, @Nullable Throwable thrown) {
        LogRecord record = new LogRecord(Level.WARNING, message);
        record.setLoggerName(logger);
        record.setInstant(at);
        record.setThrown(thrown);
        java.util.logging.Logger.getLogger(logger).log(record);
    }

    @Test
    void a_line_that_takes_long_to_format_holds_up_no_other() throws Exception {
        install(LogFormat.TEXT, LogLevel.INFO);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Object slow =
                new Object() {
                    @Override
                    public String toString() {
                        begun.countDown();
                        Unchecked.await(go);
                        return "slow";
                    }
                };
        LogRecord record = new LogRecord(Level.WARNING, "{0}");
        record.setParameters(new Object[] {slow});
        Thread thread =
                Thread.ofPlatform()
                        .start(() -> java.util.logging.Logger.getLogger("io.helidon").log(record));
        begun.await();

        OURS.info("meanwhile");
        assertEquals(1, lines().size());
        go.countDown();
        thread.join();
        assertTrue(lines().get(1).contains("slow"), lines()::toString);
    }

    @Test
    void a_long_message_is_cut() throws IOException {
        install(LogFormat.JSON, LogLevel.INFO);

        OURS.info("x".repeat(100_000));

        assertTrue(json(onlyLine()).path("message").asText().length() <= 16_385);
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
