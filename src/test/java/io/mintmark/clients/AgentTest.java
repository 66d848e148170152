package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import software.amazon.awssdk.auth.credentials.ContainerCredentialsProvider;
import software.amazon.awssdk.core.SdkSystemSetting;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** The agent: what it serves to SDKs on this machine, and what it refuses to anyone else. */
@Tag("heavy")
@Execution(ExecutionMode.CONCURRENT)
class AgentTest {
    private static final String SECRET = "the-secret-of-the-credential";
    private static final String ADDRESS =
            SdkSystemSetting.AWS_CONTAINER_CREDENTIALS_FULL_URI.property();
    private static final String TOKEN =
            SdkSystemSetting.AWS_CONTAINER_AUTHORIZATION_TOKEN.property();

    @TempDir Path directory;
    private final StandIn broker = new StandIn();
    private final List<Process> started = new ArrayList<>();
    private Path identity;
    private Agent agent;

    /** A running agent, as it describes itself. */
    private record Agent(Process process, URI address, String token) {

        String get(String path) throws IOException {
            return send("GET", path, "127.0.0.1:" + address.getPort(), token);
        }

        String send(String method, String path, String host, String authorization)
                throws IOException {
            return send(
                    "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n\r\n"
                            .formatted(method, path, host, authorization));
        }

        /** Sends any text, and returns all that comes back. */
        String send(String text) throws IOException {
            try (Socket socket =
                    new Socket(InetAddress.ofLiteral("127.0.0.1"), address.getPort())) {
                socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
                return new String(
                        socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            }
        }
    }

    @BeforeEach
    void start() throws IOException {
        Assumptions.assumeTrue(
                Shell.installed().findAny().isPresent() && Shell.find("python3").isPresent(),
                "no python3, curl or jq");
        identity = Files.writeString(directory.resolve("token"), "first.identity.token");
        agent = agent();
    }

    @AfterEach
    void stop() {
        started.forEach(Process::destroy);
        broker.close();
    }

    private ClientProcess client() {
        return ClientProcess.under(Shell.installed().findFirst().orElseThrow())
                .with("MINTMARK_URL", broker.url())
                .with("MINTMARK_TOKEN_FILE", identity.toString())
                .with("HOME", directory.toString());
    }

    private Agent agent(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("agent"));
        command.addAll(List.of(arguments));
        return agentOf(client(), command.toArray(String[]::new));
    }

    private Agent agentOf(ClientProcess client, String... command) throws IOException {
        Process process = client.start(command);
        started.add(process);
        BufferedReader lines = process.inputReader();
        return new Agent(
                process,
                URI.create(value(lines.readLine(), "AWS_CONTAINER_CREDENTIALS_FULL_URI=")),
                value(lines.readLine(), "AWS_CONTAINER_AUTHORIZATION_TOKEN="));
    }

    private static String value(String line, String name) {
        assertTrue(line.startsWith(name), line);
        return line.substring(name.length());
    }

    private void issues(String accessKey, int seconds) {
        broker.says(
                "/sdk/aws/deploy",
                200,
                """
                {"AccessKeyId": "%s", "SecretAccessKey": "%s", "Token": "session", "Expiration": "%s"}
                """
                        .formatted(
                                accessKey,
                                SECRET,
                                Instant.now()
                                        .plusSeconds(seconds)
                                        .truncatedTo(ChronoUnit.SECONDS)));
    }

    private static void assertStatus(int status, String answer) {
        assertTrue(answer.startsWith("HTTP/1.1 " + status + " "), answer);
        assertFalse(answer.contains(SECRET), answer);
    }

    @Test
    void an_sdk_gets_credentials_by_two_variables() throws IOException {
        issues("ASIA1", 3600);
        System.setProperty(ADDRESS, agent.address() + "deploy");
        System.setProperty(TOKEN, agent.token());
        try {
            for (int i = 0; i < 2; i++) {
                try (var provider = ContainerCredentialsProvider.create()) {
                    assertEquals("ASIA1", provider.resolveCredentials().accessKeyId());
                }
            }
        } finally {
            System.clearProperty(ADDRESS);
            System.clearProperty(TOKEN);
        }
        assertEquals(1, broker.asked().size());
    }

    @Test
    void callers_at_the_same_time_share_one_mint() {
        issues("ASIA1", 3600);
        issues("ASIA2", 3600);
        List<CompletableFuture<String>> calls =
                IntStream.range(0, 20)
                        .mapToObj(_ ->
                                CompletableFuture.supplyAsync(
                                        this::get, Thread::startVirtualThread))
                        .toList();
        for (CompletableFuture<String> call : calls) {
            assertTrue(call.join().contains("\"ASIA1\""), call.join());
        }
        assertEquals(1, broker.asked().size());
    }

    private String get() {
        return Unchecked.call(() -> agent.get("/deploy"));
    }

    @Test
    void it_mints_again_before_the_end_with_the_identity_token_of_then() throws IOException {
        issues("ASIA1", 8);
        issues("ASIA2", 3600);
        assertTrue(get().contains("\"ASIA1\""));
        Files.writeString(identity, "second.identity.token");
        Eventually.holds(() -> get().contains("\"ASIA2\""));
        assertEquals(
                List.of("Bearer first.identity.token", "Bearer second.identity.token"),
                broker.asked().stream()
                        .map(asked -> asked.header("Authorization").orElseThrow())
                        .distinct()
                        .toList());
        assertFalse(Files.exists(directory.resolve(".cache")));
    }

    @Test
    void a_credential_that_is_over_costs_one_mint_not_one_for_each_call() throws IOException {
        issues("ASIA1", -600);
        for (int i = 0; i < 5; i++) {
            assertTrue(get().contains("ASIA1"));
        }
        assertEquals(1, broker.asked().size());
        String line = agent.process().errorReader().readLine();
        assertTrue(line.contains("the credential of deploy had expired 60"), line);
    }

    /** SDKs compare the end with this machine's clock. */
    @ParameterizedTest
    @CsvSource({"-7200, ahead of", "1200, behind"})
    void with_a_wrong_clock_the_end_is_as_far_away_as_it_is_and_the_log_names_the_clock(
            int seconds, String which) throws IOException {
        Duration life = Duration.ofMinutes(15);
        try (SkewedBroker skewed = new SkewedBroker(Duration.ofSeconds(seconds), life)) {
            Agent wrong = agentOf(client().with("MINTMARK_URL", skewed.url()), "agent");
            for (int i = 0; i < 3; i++) {
                String answer = wrong.get("/deploy");
                Instant end =
                        Instant.parse(
                                answer.replaceAll("(?s).*\"Expiration\": \"([^\"]+)\".*", "$1"));
                Duration left = Duration.between(Instant.now(), end);
                assertTrue(left.minus(life).abs().toSeconds() < 30, left::toString);
            }
            assertEquals(1, skewed.mints());
            String line = wrong.process().errorReader().readLine();
            assertTrue(
                    line.matches(".*the clock of this machine is \\d+ s " + which + " the .*"),
                    line);
        }
    }

    @Test
    void a_gateways_answer_that_leaves_it_open_is_no_reason_to_mint_again() throws IOException {
        for (int status : List.of(502, 504)) {
            broker.says("/sdk/aws/deploy", status, "");
        }
        for (int i = 0; i < 5; i++) {
            String answer = get();
            assertStatus(400, answer);
            assertTrue(answer.contains("the broker may have issued a credential"), answer);
        }
        assertEquals(1, broker.asked().size());
    }

    @Test
    void nobody_gets_anything_without_the_token() throws IOException {
        issues("ASIA1", 3600);
        String host = "127.0.0.1:" + agent.address().getPort();
        String longer = agent.token() + "x";
        for (String wrong : List.of("", "x", longer, "Bearer " + agent.token(), "\u00e4")) {
            String answer = agent.send("GET", "/deploy", host, wrong);
            assertTrue(answer.matches("(?s)HTTP/1.1 40[01] .*"), answer);
        }
        assertStatus(401, agent.send("GET /deploy HTTP/1.1\r\nHost: %s\r\n\r\n".formatted(host)));
        assertStatus(
                401,
                agent.send(
                        "GET /deploy HTTP/1.1\r\nHost: %s\r\nAuthorization: x\r\nAuthorization: %s\r\n\r\n"
                                .formatted(host, agent.token())));
        assertEquals(List.of(), broker.asked());
        assertNotEquals(agent.token(), agent().token());
    }

    @Test
    void a_page_that_rebinds_its_name_to_loopback_is_refused() throws IOException {
        issues("ASIA1", 3600);
        int port = agent.address().getPort();
        for (String host : List.of("evil.example:" + port, "evil.example", "127.0.0.1", "")) {
            assertStatus(403, agent.send("GET", "/deploy", host, agent.token()));
        }
        assertStatus(
                403,
                agent.send(
                        "GET /deploy HTTP/1.1\r\nAuthorization: %s\r\n\r\n"
                                .formatted(agent.token())));
        assertEquals(List.of(), broker.asked());
        assertTrue(
                agent.send("GET", "/deploy", "localhost:" + port, agent.token()).contains("ASIA1"));
    }

    @Test
    void other_requests_are_refused() throws IOException {
        String host = "127.0.0.1:" + agent.address().getPort();
        String headers = "Host: %s\r\nAuthorization: %s\r\n".formatted(host, agent.token());
        for (String method : List.of("POST", "HEAD", "OPTIONS", "PUT")) {
            assertStatus(405, agent.send(method, "/deploy", host, agent.token()));
        }
        assertStatus(
                405,
                agent.send(
                        "GET /deploy HTTP/1.1\r\n" + headers + "Content-Length: 5\r\n\r\nhello"));
        for (String path :
                List.of("/", "//deploy", "/deploy/", "/a%62", "/1", "/--member", "/a?b")) {
            assertStatus(403, agent.get(path));
        }
        for (String line :
                List.of(
                        "GET http://evil/deploy HTTP/1.1",
                        "GET /deploy HTTP/2",
                        "get /deploy HTTP/1.1",
                        "GET  /deploy HTTP/1.1",
                        "\u0000")) {
            assertStatus(400, agent.send(line + "\r\n" + headers + "\r\n"));
        }
        assertStatus(400, agent.send("GET /deploy HTTP/1.1\r\n" + headers + " folded: x\r\n\r\n"));
        assertEquals(List.of(), broker.asked());
    }

    @Test
    void a_request_that_is_too_long_or_too_slow_is_cut_off() throws IOException {
        assertEquals("", agent.send("GET /deploy HTTP/1.1\r\nX: " + "x".repeat(20_000)));
        assertEquals("", agent.send("GET /deploy HTTP/1.1\r\n"));
        issues("ASIA1", 3600);
        assertTrue(get().contains("ASIA1"));
    }

    @Test
    void hundreds_of_idle_connections_do_not_end_it() throws IOException {
        issues("ASIA1", 3600);
        List<Socket> idle = new ArrayList<>();
        try {
            for (int i = 0; i < 300; i++) {
                idle.add(new Socket(InetAddress.ofLiteral("127.0.0.1"), agent.address().getPort()));
            }
        } finally {
            for (Socket socket : idle) {
                socket.close();
            }
        }
        Eventually.holds(this::answers);
    }

    /** Of another local user, for example: whoever has the token is answered all the same. */
    @Test
    void idle_connections_that_stay_open_keep_nobody_out() throws IOException {
        issues("ASIA1", 3600);
        List<Socket> idle = new ArrayList<>();
        try {
            for (int i = 0; i < 300; i++) {
                Socket socket = new Socket();
                idle.add(socket);
                socket.connect(
                        new InetSocketAddress(
                                InetAddress.ofLiteral("127.0.0.1"), agent.address().getPort()));
            }
            assertTrue(get().contains("ASIA1"));
            assertTrue(isClosed(idle.getFirst()), "the oldest is still open");
        } finally {
            for (Socket socket : idle) {
                socket.close();
            }
        }
    }

    /** By its other end, with a reset or without. */
    private static boolean isClosed(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() == -1;
        } catch (SocketException _) {
            return true;
        }
    }

    @Test
    void a_connection_that_sends_nothing_is_closed_within_seconds() throws IOException {
        // one that has begun a request has five seconds; a loaded machine delays any one of them
        Eventually.holds(() -> {
            Instant begun = Instant.now();
            assertEquals("", Unchecked.call(() -> agent.send("")));
            return Duration.between(begun, Instant.now()).toMillis() < 4_000;
        });
    }

    @Test
    void a_providers_failure_is_passed_on_at_once() throws IOException {
        broker.says(
                "/sdk/aws/deploy",
                503,
                "{\"error\": \"CREDENTIAL_MINT_FAILED\", \"message\": \"It did not answer. (request r2)\","
                        + " \"requestId\": \"r2\", \"retryAfter\": 5}");
        String answer = get();
        assertStatus(503, answer);
        assertTrue(answer.contains("\r\nRetry-After: 5\r\n"), answer);
        assertTrue(
                answer.contains("It did not answer. (CREDENTIAL_MINT_FAILED, request r2)"), answer);
        assertEquals(1, broker.asked().size());
    }

    @Test
    void the_token_can_be_in_a_file_that_nobody_else_can_read() throws Exception {
        issues("ASIA1", 3600);
        Path file = directory.resolve("agent-token");
        Process process = client().start("agent", "--token-file", file.toString());
        started.add(process);
        BufferedReader lines = process.inputReader();
        URI address = URI.create(value(lines.readLine(), "AWS_CONTAINER_CREDENTIALS_FULL_URI="));
        assertEquals(
                file.toString(),
                value(lines.readLine(), "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE="));
        assertEquals(
                "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        Agent other = new Agent(process, address, Files.readString(file));
        assertTrue(other.get("/deploy").contains("ASIA1"));
        process.destroy();
        process.waitFor();
        assertFalse(Files.exists(file));
        Ended ended = client().run("agent", "--token-file", "relative");
        assertEquals(2, ended.exit(), ended.err());
    }

    /** It resets connections while it still has too many. */
    private boolean answers() {
        try {
            return agent.get("/deploy").contains("ASIA1");
        } catch (IOException _) {
            return false;
        }
    }

    @Test
    void a_refusal_reaches_the_sdk_in_the_brokers_words() throws IOException {
        broker.says(
                "/sdk/aws/deploy",
                403,
                "{\"error\": \"FORBIDDEN\", \"message\": \"No.\", \"requestId\": \"r1\"}");
        String answer = get();
        assertStatus(400, answer);
        assertTrue(
                answer.endsWith(
                        "{\"code\": \"MintFailed\", \"message\": \"mintmark-client: No. (FORBIDDEN, request r1)\"}"),
                answer);
        assertEquals(answer, get());
        assertEquals(1, broker.asked().size());
    }

    @Test
    void what_may_pass_is_an_answer_that_sdks_repeat() throws IOException {
        broker.says("/sdk/aws/deploy", 302, "");
        String answer = get();
        assertStatus(503, answer);
        assertTrue(answer.contains("\r\nRetry-After: 2\r\n"), answer);
        issues("ASIA1", 3600);
        Eventually.holds(() -> get().contains("ASIA1"));
    }

    @Test
    void an_agent_for_one_key_names_and_serves_that_alone() throws IOException {
        issues("ASIA1", 3600);
        Agent single = agent("deploy");
        assertEquals("/deploy", single.address().getPath());
        assertTrue(single.get("/deploy").contains("ASIA1"));
        assertStatus(403, single.get("/other"));
    }

    @Test
    void its_log_and_its_arguments_hold_no_secret() throws Exception {
        issues("ASIA1", 3600);
        broker.says("/sdk/aws/other", 403, "{\"error\": \"FORBIDDEN\", \"message\": \"No.\"}");
        get();
        agent.get("/other");
        agent.send("GET", "/deploy", "x", agent.token());
        String arguments = agent.process().info().commandLine().orElseThrow();
        agent.process().toHandle().destroy();
        Ended ended = ClientProcess.await(agent.process());
        assertEquals("mintmark-client: No. (FORBIDDEN, request )\n", ended.err());
        assertEquals(0, ended.exit());
        for (String secret : List.of(SECRET, agent.token(), "first.identity.token")) {
            assertFalse((ended.err() + arguments).contains(secret), secret);
        }
    }

    @Test
    void it_listens_on_loopback_alone() throws IOException {
        assertTrue(agent("--listen", "127.0.0.2:0").address().getHost().equals("127.0.0.2"));
        for (String address : List.of("0.0.0.0:0", "[::]:0")) {
            Ended ended = client().run("agent", "--listen", address);
            assertEquals(2, ended.exit());
            assertTrue(ended.err().contains("must be a loopback address"), ended.err());
        }
        for (String address : List.of("", "evil.example:0", "127.0.0.1:99999", "[::1:0")) {
            assertEquals(2, client().run("agent", "--listen=" + address).exit(), address);
        }
        int taken = agent.address().getPort();
        Ended ended = client().run("agent", "--listen", "127.0.0.1:" + taken);
        assertEquals(2, ended.exit());
        assertTrue(ended.err().contains("cannot listen on 127.0.0.1:" + taken), ended.err());
    }
}
