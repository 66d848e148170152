package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.base.config.ServerBounds;
import io.mintmark.base.config.TlsFiles;
import io.mintmark.base.http.tls.PortTls;
import io.mintmark.base.outbound.Authority;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** A port with a certificate keeps all bounds, from the first byte of the handshake on. */
class TlsPortTest {
    private static final Duration LONG = Duration.ofHours(1);
    private static final String GET = "GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n";

    /** The beginning of a ClientHello of 512 bytes. */
    private static final String HALF_A_HELLO = "\u0016\u0003\u0001\u0002\u0000\u0001";

    private final Authority authority = new Authority();
    private final List<RawClient> others = new ArrayList<>();
    private PortTls tls;
    private GuardedServer server;
    private Path trusted;

    @BeforeEach
    void start(@TempDir Path directory) throws Exception {
        Path certificate = directory.resolve("tls.crt");
        Path key = directory.resolve("tls.key");
        authority.write("localhost", certificate, key);
        trusted = Files.writeString(directory.resolve("ca.crt"), authority.pem());
        tls = PortTls.of(new TlsFiles("SERVER_TLS_CERTIFICATE_FILE", certificate, key));
        server =
                new GuardedServer(
                        Optional.of(tls),
                        new ServerBounds(LONG, LONG, LONG, LONG, 64, 16),
                        () -> 5 * System.nanoTime());
    }

    @AfterEach
    void stop() throws IOException {
        for (RawClient client : others) {
            client.close();
        }
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void requests_and_answers_of_any_length_arrive_whole(String version) throws Exception {
        try (HttpClient client = client(version)) {
            assertEquals("ok", get(client, "/ok").body());
            assertEquals(GuardedServer.LENGTHY, get(client, "/long").body().length());
            HttpResponse<String> read =
                    client.send(
                            HttpRequest.newBuilder(uri("/read"))
                                    .POST(HttpRequest.BodyPublishers.ofByteArray(new byte[50_000]))
                                    .build(),
                            BodyHandlers.ofString());
            assertEquals("read 50000", read.body());
            assertEquals(version, read.sslSession().orElseThrow().getProtocol());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", HALF_A_HELLO})
    void clients_that_stall_in_the_handshake_do_not_keep_out_others(String start) throws Exception {
        for (int i = 0; i < 400; i++) {
            others.add(server.client().trySending(start));
        }
        assertServed();
        assertEquals("", others.getFirst().untilClosed());
    }

    @Test
    void a_handshake_that_stalls_ends_after_the_time_for_headers() throws Exception {
        var bounds = new ServerBounds(Duration.ofSeconds(1), LONG, LONG, LONG, 64, 16);
        try (GuardedServer hasty = new GuardedServer(Optional.of(tls), bounds, System::nanoTime);
                RawClient client = hasty.client().send(HALF_A_HELLO)) {
            assertEquals("", client.untilClosed());
        }
    }

    @Test
    void failed_handshakes_leave_no_connection_behind() throws Exception {
        for (int i = 0; i < 200; i++) {
            try (RawClient client = server.client().trySending(GET)) {
                client.untilClosed();
            }
        }
        assertServed();
        assertEquals(List.of("/ok"), server.requests());
    }

    /** A byte costs as much to decrypt as a kilobyte, before any limit of requests counts it. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void records_of_a_byte_end_their_connection_before_they_cost_anything(String version)
            throws Exception {
        try (SSLSocket socket = connect(version)) {
            socket.setTcpNoDelay(true);
            assertThrows(
                    IOException.class,
                    () -> {
                        for (int i = 0; i < 30_000; i++) {
                            socket.getOutputStream().write(i < 4 ? "GET ".charAt(i) : '/');
                        }
                        socket.getInputStream().readAllBytes();
                    });
        }
        assertServed();
        assertEquals(List.of("/ok"), server.requests());
    }

    @Test
    void the_shortest_requests_may_follow_one_another() throws Exception {
        String shortest = "GET /ok HTTP/1.1\r\nHost:a\r\n\r\n";
        try (SSLSocket socket = connect("TLSv1.3")) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            for (int i = 0; i < 999; i++) {
                socket.getOutputStream().write(shortest.getBytes(StandardCharsets.US_ASCII));
                assertEquals("ok", body(in));
            }
        }
    }

    /** Of an answer that ends with the body {@code ok}. */
    private static String body(InputStream in) throws IOException {
        StringBuilder answer = new StringBuilder();
        while (answer.indexOf("\r\n\r\nok") < 0) {
            int next = in.read();
            assertTrue(next >= 0, answer + ": the connection has ended");
            answer.append((char) next);
        }
        return answer.substring(answer.length() - 2);
    }

    /** The engine copies what it has of a hello at each further fragment. */
    @ParameterizedTest
    @ValueSource(ints = {1, 16_000})
    void a_hello_in_many_fragments_or_a_long_one_is_refused(int fragment) throws Exception {
        String hello = "\u0001\u0000u0\u0003\u0003" + "\0".repeat(29_994);
        try (RawClient client = server.client()) {
            for (int at = 0; at + fragment <= hello.length(); at += fragment) {
                client.trySending(
                        "\u0016\u0003\u0001%c%c%s"
                                .formatted(
                                        (char) (fragment >> 8),
                                        (char) (fragment & 0xFF),
                                        hello.substring(at, at + fragment)));
            }
            assertEquals("\u0015", client.untilClosed().substring(0, 1), "an alert");
        }
        assertServed();
    }

    @Test
    void a_client_of_tls_1_2_gets_no_second_handshake() throws Exception {
        try (SSLSocket socket = connect("TLSv1.2")) {
            socket.startHandshake();
            socket.getOutputStream().write(GET.getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            assertEquals('H', in.read());

            socket.startHandshake();

            assertThrows(
                    IOException.class,
                    () -> {
                        socket.getOutputStream().write(GET.getBytes(StandardCharsets.US_ASCII));
                        in.readAllBytes();
                        throw new AssertionError("the connection ended without an error");
                    });
        }
        assertEquals(List.of("/ok"), server.requests());
    }

    @Test
    void the_last_answer_is_followed_by_an_orderly_end() throws Exception {
        try (SSLSocket socket = connect("TLSv1.3")) {
            socket.getOutputStream()
                    .write(GET.replace("/ok", "/close").getBytes(StandardCharsets.US_ASCII));
            String answer =
                    new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertTrue(answer.endsWith("bye"), answer);
        }
    }

    @Test
    void a_client_that_offers_another_protocol_alone_is_refused() throws Exception {
        try (SSLSocket socket = connect("TLSv1.3")) {
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2"});
            socket.setSSLParameters(parameters);
            assertThrows(IOException.class, socket::startHandshake);
        }
    }

    @Test
    void curl_and_openssl_agree() throws Exception {
        assumeTrue(isInstalled("curl") && isInstalled("openssl"));
        String port = Integer.toString(server.port());
        assertEquals(
                "ok",
                shell("curl -sS --cacert '%s' https://localhost:%s/ok".formatted(trusted, port)));
        String hello =
                shell(
                        "echo | openssl s_client -connect localhost:%s -CAfile '%s' -alpn h2,http/1.1 2>&1"
                                .formatted(port, trusted));
        assertTrue(hello.contains("Verify return code: 0"), hello);
        assertTrue(hello.contains("ALPN protocol: http/1.1"), hello);
        String old =
                shell(
                        "echo | openssl s_client -tls1_1 -cipher ALL:@SECLEVEL=0 -connect localhost:%s 2>&1 || true"
                                .formatted(port));
        assertTrue(old.contains("alert protocol version"), old);
        String weak =
                shell(
                        "echo | openssl s_client -tls1_2 -cipher ECDHE-ECDSA-AES128-SHA256 -connect localhost:%s 2>&1 || true"
                                .formatted(port));
        assertTrue(weak.contains("handshake failure"), weak);
    }

    private static boolean isInstalled(String program) {
        return Files.isExecutable(Path.of("/usr/bin", program));
    }

    /** What a command prints, and what it complains of. */
    private static String shell(String command) throws Exception {
        Process process = new ProcessBuilder("sh", "-c", command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return output;
    }

    private void assertServed() throws Exception {
        try (HttpClient client = client("TLSv1.3")) {
            assertEquals("ok", get(client, "/ok").body());
        }
    }

    private HttpResponse<String> get(HttpClient client, String path) throws Exception {
        return client.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("https://localhost:%d%s".formatted(server.port(), path));
    }

    /** Like most clients, it would rather speak HTTP/2. */
    private HttpClient client(String version) throws Exception {
        SSLParameters parameters = new SSLParameters();
        parameters.setProtocols(new String[] {version});
        return HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_2)
                .sslContext(authority.client())
                .sslParameters(parameters)
                .build();
    }

    private SSLSocket connect(String version) throws Exception {
        SSLSocket socket =
                (SSLSocket)
                        authority
                                .client()
                                .getSocketFactory()
                                .createSocket("127.0.0.1", server.port());
        socket.setEnabledProtocols(new String[] {version});
        return socket;
    }
}
