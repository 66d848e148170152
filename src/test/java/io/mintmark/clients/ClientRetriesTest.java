package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.RawServer;
import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Which failures the shell client waits out, how long it waits, and which mints it repeats. */
@Tag("heavy")
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
@Execution(ExecutionMode.CONCURRENT)
class ClientRetriesTest {
    private static final String PAGE = "<html>a proxy's page</html>";
    private static final Map<String, String> AT_ONCE = Map.of("Retry-After", "0");
    private static final byte[] HALF =
            "HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\n{".getBytes(StandardCharsets.US_ASCII);
    private static final String KEYS = "{\"subject\": \"s\", \"idp\": \"i\", \"keys\": []}";
    private static final String MINT = "/credentials/mint";

    @TempDir Path directory;
    @AutoClose private final StandIn broker = new StandIn();
    private final ClientProcess client;

    ClientRetriesTest(Shell shell) {
        this.client =
                ClientProcess.under(shell)
                        .with("MINTMARK_URL", broker.url())
                        .with("MINTMARK_TOKEN", "aaaa.bbbb.cccc");
    }

    private static void assertWaited(int times, Ended ended) {
        List<String> lines = ended.err().lines().toList();
        assertEquals(times, lines.size(), ended.err());
        for (String line : lines) {
            assertTrue(
                    line.matches("mintmark-client: the broker: .+; retrying in \\d+\\.\\d s"),
                    line);
        }
    }

    private static Duration since(Instant start) {
        return Duration.between(start, Instant.now());
    }

    @Test
    void a_list_is_requested_again_after_every_failure_that_may_pass() {
        for (int status : List.of(429, 502, 503, 504)) {
            broker.says("/credentials/keys", status, PAGE, AT_ONCE);
        }
        broker.says("/credentials/keys", 200, KEYS);
        Ended ended = client.run("whoami");
        assertEquals(0, ended.exit(), ended.err());
        assertWaited(4, ended);
    }

    @Test
    void a_mint_is_repeated_after_an_answer_that_says_that_nothing_was_minted() {
        broker.says(MINT, 429, PAGE, AT_ONCE)
                .says(MINT, 503, PAGE)
                .says(MINT, 503, "{\"error\": \"SERVICE_UNAVAILABLE\", \"retryAfter\": 0}")
                .mints("a", "{\"ACCESS_TOKEN\": \"b\"}");
        Ended ended = client.run("exec", "a", "--", "true");
        assertEquals(0, ended.exit(), ended.err());
        assertWaited(3, ended);
        assertEquals(4, broker.asked().size());
    }

    @Test
    void a_mint_is_not_repeated_after_a_gateways_answer_that_leaves_it_open() {
        for (int status : List.of(502, 504)) {
            broker.says(MINT, status, PAGE).says("/sdk/aws/a", status, PAGE);
        }
        for (int i = 0; i < 2; i++) {
            for (String command : List.of("get", "aws-process")) {
                Ended ended = client.run(command, "a");
                assertEquals(75, ended.exit());
                assertTrue(
                        ended.err().contains("the broker may have issued a credential"),
                        ended.err());
            }
        }
        assertEquals(4, broker.asked().size());
    }

    /** Full jitter: with dice that show zero, a wait is none. */
    @Test
    void a_wait_is_random_from_its_beginning() throws IOException {
        Path dice = Files.writeString(directory.resolve("od"), "#!/bin/sh\necho 0\n");
        Files.setPosixFilePermissions(dice, PosixFilePermissions.fromString("rwxr-xr-x"));
        broker.says("/credentials/keys", 503, PAGE)
                .says("/credentials/keys", 503, PAGE)
                .says("/credentials/keys", 200, KEYS);
        Ended ended = client.with("PATH", directory + ":" + Shell.SEARCH_PATH).run("keys");
        assertEquals(0, ended.exit(), ended.err());
        assertEquals(
                "mintmark-client: the broker: HTTP 503; retrying in 0.0 s\n".repeat(2),
                ended.err());
    }

    @Test
    void other_answers_are_final() {
        List<Integer> statuses = List.of(400, 401, 403, 404, 500);
        for (int status : statuses) {
            broker.says("/credentials/keys", status, "{\"error\": \"X\"}");
        }
        for (int i = 0; i < statuses.size(); i++) {
            Ended ended = client.run("keys");
            assertEquals(1, ended.exit());
            assertEquals("mintmark-client:  (X, request )\n", ended.err());
        }
        assertEquals(5, broker.asked().size());
    }

    @Test
    void the_wait_is_at_least_what_the_server_asks_for_in_body_or_header() {
        String date =
                DateTimeFormatter.RFC_1123_DATE_TIME
                        .withLocale(Locale.ROOT)
                        .format(Instant.now().plusSeconds(2).atOffset(ZoneOffset.UTC));
        for (String header : List.of("1", date)) {
            broker.says("/credentials/keys", 503, PAGE, Map.of("Retry-After", header));
        }
        broker.says("/credentials/keys", 429, "{\"retryAfter\": 1}", Map.of("Retry-After", "0"))
                .says("/credentials/keys", 200, KEYS);
        Instant start = Instant.now();
        Ended ended = client.run("keys");
        assertEquals(0, ended.exit(), ended.err());
        assertWaited(3, ended);
        assertTrue(since(start).toMillis() >= 2000, () -> "only " + since(start));
    }

    @Test
    void the_three_forms_of_a_date_are_understood() {
        for (String form :
                List.of(
                        "EEE, dd MMM yyyy HH:mm:ss 'GMT'",
                        "EEEE, dd-MMM-yy HH:mm:ss 'GMT'",
                        "EEE MMM ppd HH:mm:ss yyyy")) {
            String date =
                    DateTimeFormatter.ofPattern(form, Locale.ENGLISH)
                            .format(Instant.now().plusSeconds(600).atOffset(ZoneOffset.UTC));
            broker.says(MINT, 503, "{\"error\": \"X\"}", Map.of("Retry-After", date));
        }
        for (int i = 0; i < 3; i++) {
            Ended ended = client.run("get", "a", "--timeout", "20");
            assertEquals("mintmark-client:  (X, request )\n", ended.err());
        }
        assertEquals(3, broker.asked().size());
    }

    @Test
    void a_wait_that_ends_after_the_timeout_is_not_begun() {
        for (String wait : List.of("91", "99999999999999999999", "1e300")) {
            broker.says(MINT, 429, "{\"error\": \"X\", \"retryAfter\": %s}".formatted(wait));
        }
        for (int i = 0; i < 3; i++) {
            Ended ended = client.run("get", "a");
            assertEquals(75, ended.exit());
            assertTrue(ended.err().contains("mintmark-client: retry in "), ended.err());
        }
        assertEquals(3, broker.asked().size());
    }

    @Test
    void a_wait_that_makes_no_sense_is_none() {
        for (String wait : List.of("-5", "soon", "Sun, 99 Foo 2026 25:61:61 GMT")) {
            broker.says("/credentials/keys", 503, PAGE, Map.of("Retry-After", wait));
        }
        broker.says("/credentials/keys", 200, KEYS);
        Ended ended = client.run("keys");
        assertEquals(0, ended.exit(), ended.err());
        assertWaited(3, ended);
    }

    @Test
    void a_broker_that_starts_while_the_client_waits_is_reached() throws IOException {
        int port = RunningBroker.freePort();
        Process process = client.with("MINTMARK_URL", "http://127.0.0.1:" + port).start("get", "a");
        BufferedReader errors = process.errorReader();
        String line = errors.readLine();
        assertTrue(
                line.startsWith("mintmark-client: the broker: connection refused, or no route;"),
                line);
        try (StandIn late = new StandIn(port)) {
            late.mints("a", "{\"ACCESS_TOKEN\": \"b\"}");
            assertEquals("export ACCESS_TOKEN='b'", process.inputReader().readLine());
        }
    }

    @Test
    void a_connection_that_is_cut_after_the_request_ends_a_mint_but_not_a_list()
            throws IOException {
        try (RawServer cutting =
                RawServer.serving(socket -> RawServer.request(socket.getInputStream()))) {
            client.with("MINTMARK_URL", cutting.origin());
            for (String command : List.of("get", "aws-process")) {
                Ended ended = client.run(command, "a");
                assertEquals(3, ended.exit());
                assertTrue(
                        ended.err()
                                .endsWith(
                                        "the request was sent and is not repeated; the audit log shows whether the broker issued a credential\n"),
                        ended.err());
            }
            assertEquals(2, cutting.connections());
            assertEquals(3, client.run("keys", "--timeout", "2").exit());
            assertRetries(cutting, "keys", "--timeout", "120");
        }
    }

    @Test
    void half_an_answer_ends_a_mint() throws IOException {
        try (RawServer half =
                RawServer.serving(socket -> {
                    RawServer.request(socket.getInputStream());
                    socket.getOutputStream().write(HALF);
                })) {
            assertEquals(3, client.with("MINTMARK_URL", half.origin()).run("get", "a").exit());
            assertEquals(1, half.connections());
        }
    }

    @Test
    void a_connection_that_is_cut_before_the_request_is_repeated_for_a_mint_too()
            throws IOException {
        try (RawServer cutting = RawServer.serving(socket -> socket.getInputStream().read())) {
            Ended ended =
                    client.with("MINTMARK_URL", cutting.origin().replace("http:", "https:"))
                            .run("get", "a", "--timeout", "3");
            assertEquals(3, ended.exit());
            assertTrue(ended.err().contains("no trusted TLS connection (curl error 35)"));
            assertRetries(cutting, "get", "a", "--timeout", "120");
        }
    }

    /** However slowly a shell starts. */
    private void assertRetries(RawServer cutting, String... command) {
        int before = cutting.connections();
        Process process = client.start(command);
        Eventually.holds(() -> cutting.connections() > before + 1);
        process.destroy();
    }

    /** Without the option, a command may take 90 seconds. */
    @Test
    void a_server_that_never_answers_costs_the_timeout_and_one_mint() throws IOException {
        try (RawServer silent =
                RawServer.serving(socket -> socket.getInputStream().readAllBytes())) {
            Instant start = Instant.now();
            Ended ended =
                    client.with("MINTMARK_URL", silent.origin()).run("get", "a", "--timeout", "5");
            assertEquals(3, ended.exit());
            assertTrue(ended.err().contains("no answer in time"), ended.err());
            assertEquals(1, silent.connections());
            assertTrue(since(start).toSeconds() < 80, () -> "it took " + since(start));
        }
    }
}
