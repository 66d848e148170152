package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.GuardedHttp.Document;
import io.mintmark.base.outbound.GuardedHttp.Limits;
import io.mintmark.base.outbound.OutboundFailure.Kind;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.GZIPOutputStream;

final class GuardedHttpTest {
    private static final int SMALL = 1000;
    private static final int LONG = 100_000;
    private static final String OK = "HTTP/1.1 200 OK\r\n";
    private static final Duration TIMEOUT = Duration.ofMillis(300);
    private static final Duration MUCH_LATER = Eventually.PATIENCE;

    private final GuardedHttp http = http("127.0.0.0/8");

    @Test
    void fetches_a_document_and_asks_for_it_plainly() throws Exception {
        try (RawServer server = RawServer.saying(OK + "Content-Length: 2\r\n\r\n{}")) {
            assertEquals("{}", get(http, server.url()));
            String request = server.requests().getFirst().toLowerCase(Locale.ROOT);
            assertTrue(request.startsWith("get /keys?secret=s3cret http/1.1\r\n"), request);
            assertTrue(request.contains("accept-encoding: identity\r\n"), request);
            assertTrue(
                    request.contains(
                            "accept: application/jwk-set+json, application/json, */*;q=0.1\r\n"),
                    request);
            assertFalse(request.contains("cookie"), request);
            assertFalse(request.contains("upgrade"), request);
        }
    }

    @Test
    void does_not_connect_to_loopback_unless_that_is_listed() throws Exception {
        try (RawServer server = RawServer.saying(OK + "\r\n")) {
            OutboundFailure failure = failure(http("10.0.0.0/8"), server.url());
            assertEquals(Kind.DESTINATION_REFUSED, failure.kind());
            assertTrue(message(failure).contains("OUTBOUND_ALLOWED_HOSTS"), failure::getMessage);
            assertEquals(List.of(), server.requests());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://127.0.0.1:1/",
                "https://localhost:1/",
                "https://[::1]:1/",
                "https://[::ffff:127.0.0.1]:1/",
                "https://[::ffff:7f00:1]:1/",
                "https://0:1/",
                "https://[64:ff9b::7f00:1]:1/",
                "https://[::127.0.0.1]:1/",
                "https://2130706433:1/",
                "https://169.254.169.254/latest/meta-data/",
                "https://[fd00:ec2::254]/",
                "https://localhost.:1/",
                "https://LOCALHOST:1/",
                "http://127.0.0.1:1/"
            })
    void no_spelling_of_an_internal_address_is_connected_to(String url) {
        assertEquals(Kind.DESTINATION_REFUSED, failure(http(), url).kind());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://issuer.example/keys", "http://8.8.8.8/",
                "http://2130706433/", "http://localhost.example/",
                "https://user:pass@issuer.example/", "https://issuer.example/#keys",
                "https:/keys", "/keys",
                "", "keys",
                "ftp://issuer.example/", "file:///etc/passwd",
                "jar:https://issuer.example!/", "https://issuer.example/a b",
                "https://issuer_.example:x/", "https://"
            })
    void other_addresses_than_https_ones_are_not_asked_at_all(String url) {
        OutboundFailure failure = failure(http, url);
        assertEquals(Kind.ADDRESS_UNUSABLE, failure.kind(), failure::getMessage);
        assertFalse(message(failure).contains("pass"), failure::getMessage);
    }

    @Test
    void does_not_follow_a_redirect() throws Exception {
        try (RawServer inside = RawServer.saying(OK + "\r\n");
                RawServer server =
                        RawServer.saying(
                                "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
                                        + inside.url()
                                        + "\r\n\r\n")) {
            assertEquals(Kind.REDIRECTED, failure(http, server.url()).kind());
            assertEquals(List.of(), inside.requests());
        }
    }

    @Test
    void tells_of_a_status_and_nothing_of_the_answer() throws Exception {
        try (RawServer server =
                RawServer.saying("HTTP/1.1 500 Own words\r\nContent-Length: 5\r\n\r\nwords")) {
            OutboundFailure failure = failure(http, server.url());
            assertEquals(Kind.STATUS, failure.kind());
            assertEquals("127.0.0.1 answered with status 500", failure.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 1001\r\n", "Connection: close\r\n"})
    void stops_reading_where_an_answer_gets_too_large(String framing) throws Exception {
        try (RawServer server = RawServer.saying(OK + framing + "\r\n" + "x".repeat(SMALL + 1))) {
            assertEquals(Kind.TOO_LARGE, failure(http, server.url()).kind());
        }
    }

    @Test
    void stops_reading_an_answer_without_end() throws Exception {
        try (RawServer server = RawServer.plain(GuardedHttpTest::endless)) {
            assertEquals(Kind.TOO_LARGE, failure(http, server.url()).kind());
            server.awaitLeaving();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 100 Continue\r\n\r\n",
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
            })
    void few_interim_responses_are_waited_out(String interim) throws Exception {
        String last = OK + "Content-Length: 2\r\n\r\n{}";
        try (RawServer few = RawServer.saying(interim.repeat(8) + last);
                RawServer many = RawServer.saying(interim.repeat(9) + last);
                RawServer endless = RawServer.plain(out -> repeat(out, interim))) {
            assertEquals("{}", get(http, few.url()));
            assertEquals(Kind.CUT_OFF, failure(http, many.url()).kind());
            assertEquals(Kind.CUT_OFF, failure(http, endless.url()).kind());
            endless.awaitLeaving();
        }
    }

    /** What comes below HTTP isn't counted by anybody else. */
    @Test
    void no_more_is_received_than_an_exchange_may_take() throws Exception {
        try (RawServer server = RawServer.plain(out -> repeat(out, "x".repeat(1 << 16)));
                BoundedSocket socket = new BoundedSocket(BoundedSocket.MOST_BYTES)) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
            socket.getOutputStream().write(ascii("GET / HTTP/1.1\r\n\r\n"));
            InputStream in = socket.getInputStream();
            assertEquals(4 << 20, in.readNBytes(4 << 20).length);
            socket.beginExchange();
            assertEquals(4 << 20, in.readNBytes(4 << 20).length);
            assertThrows(IOException.class, in::read);
            server.awaitLeaving();
        }
        try (RawServer server = RawServer.plain(out -> repeat(out, "x".repeat(1 << 16)));
                BoundedSocket socket = new BoundedSocket(BoundedSocket.MOST_BYTES)) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
            socket.getOutputStream().write(ascii("GET / HTTP/1.1\r\n\r\n"));
            InputStream in = socket.getInputStream();
            byte[] some = new byte[128];
            for (int i = 0; i < 8192; i++) {
                assertTrue(in.read(some) > 0);
            }
            assertThrows(IOException.class, in::read);
            assertTrue(socket.isClosed());
            server.awaitLeaving();
        }
    }

    /** More servers than carriers, which send faster than they are read. */
    @Test
    void servers_that_flood_leave_carriers_to_others() throws Exception {
        var stopped = new AtomicBoolean();
        int floods = 4 * Runtime.getRuntime().availableProcessors();
        try (RawServer server = RawServer.plain(out -> repeat(out, "x".repeat(1 << 16)));
                ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < floods; i++) {
                var _ = readers.submit(() -> flooded(server, stopped));
            }
            try {
                for (int i = 0; i < 100; i++) {
                    assertTrue(Thread.ofVirtual().start(() -> {}).join(MUCH_LATER));
                }
            } finally {
                stopped.set(true);
            }
        }
    }

    private static Void flooded(RawServer server, AtomicBoolean stopped) throws IOException {
        try (BoundedSocket socket = new BoundedSocket(BoundedSocket.MOST_BYTES)) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
            socket.getOutputStream().write(ascii("GET / HTTP/1.1\r\n\r\n"));
            InputStream in = socket.getInputStream();
            while (!stopped.get()) {
                socket.beginExchange();
                assertTrue(in.read() >= 0);
            }
        }
        return null;
    }

    private static void repeat(OutputStream out, String text) throws IOException {
        while (true) {
            out.write(ascii(text));
        }
    }

    /** Each takes some times its length while it is parsed. */
    @Test
    void an_owner_has_one_long_answer_parsed_at_a_time_and_others_theirs() throws Exception {
        GuardedHttp large =
                new GuardedHttp(
                        new Destinations(List.of("127.0.0.1")), new Limits(LONG, MUCH_LATER));
        CountDownLatch parsing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (RawServer server = RawServer.saying(OK + "\r\n" + "x".repeat(LONG));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Integer> first =
                    threads.submit(() ->
                            large.get(
                                    document(server.url()),
                                    body -> {
                                        parsing.countDown();
                                        Unchecked.await(goOn);
                                        return body.length;
                                    }));
            parsing.await();
            assertEquals(Kind.BUSY, failure(large, server.url()).kind());
            Document other = new Document("globex", server.url(), Optional.empty(), MUCH_LATER);
            int length = large.get(other, body -> body.length);
            assertEquals(LONG, length);
            goOn.countDown();
            assertEquals(LONG, first.get().intValue());
        }
    }

    @Test
    void takes_an_answer_of_the_greatest_size() throws Exception {
        try (RawServer server = RawServer.saying(OK + "\r\n" + "x".repeat(SMALL))) {
            assertEquals(SMALL, get(http, server.url()).length());
        }
    }

    @Test
    void does_not_unpack_a_bomb() throws Exception {
        ByteArrayOutputStream bomb = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(bomb)) {
            gzip.write(new byte[100 * SMALL]);
        }
        try (RawServer server =
                RawServer.plain(out -> {
                    out.write(ascii(OK + "Content-Encoding: gzip\r\n\r\n"));
                    out.write(bomb.toByteArray());
                })) {
            assertEquals(Kind.ENCODED, failure(http, server.url()).kind());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", OK, OK + "X: ", OK + "\r\n", OK + "Content-Length: 99\r\n\r\n"})
    void leaves_a_server_that_gives_a_byte_now_and_then(String beginning) throws Exception {
        try (RawServer server = RawServer.plain(out -> drip(out, beginning))) {
            OutboundFailure failure =
                    assertTimeoutPreemptively(MUCH_LATER, () -> failure(hasty(), server.url()));
            assertEquals(Kind.TIMED_OUT, failure.kind());
            assertTimeoutPreemptively(MUCH_LATER, server::awaitLeaving);
        }
    }

    @Test
    void leaves_a_server_that_never_gets_through_with_its_tls_handshake() throws Exception {
        try (RawServer server = RawServer.plain(out -> drip(out, ""))) {
            OutboundFailure failure =
                    assertTimeoutPreemptively(
                            MUCH_LATER,
                            () -> failure(hasty(), "https://127.0.0.1:" + server.port() + "/"));
            assertEquals(Kind.TIMED_OUT, failure.kind());
            assertTimeoutPreemptively(MUCH_LATER, server::awaitLeaving);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nonsense\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
                "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n"
            })
    void an_answer_that_is_none_is_a_failure(String answer) throws Exception {
        try (RawServer server = RawServer.saying(answer)) {
            assertEquals(Kind.CUT_OFF, failure(http, server.url()).kind());
        }
    }

    @Test
    void heads_without_end_are_not_kept() throws Exception {
        try (RawServer server = RawServer.saying(OK + "A: b\r\n".repeat(SMALL) + "\r\n{}")) {
            assertEquals(Kind.CUT_OFF, failure(http, server.url()).kind());
        }
        try (RawServer server =
                RawServer.saying(OK + "A: " + "b".repeat(100 * SMALL) + "\r\n\r\n{}")) {
            assertEquals(Kind.CUT_OFF, failure(http, server.url()).kind());
        }
    }

    @Test
    void nobody_listening_is_a_failure_that_names_the_host_only() throws Exception {
        try (Socket held = new Socket()) {
            held.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
            OutboundFailure failure =
                    failure(http, "http://127.0.0.1:%d/".formatted(held.getLocalPort()));
            assertEquals(Kind.UNREACHABLE, failure.kind());
            assertTrue(
                    message(failure).startsWith("127.0.0.1 can't be reached ("),
                    failure::getMessage);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http.proxyHost", "socksProxyHost"})
    void proxies_of_the_environment_are_not_used(String property) throws Exception {
        System.setProperty(property, "proxy.invalid");
        try (RawServer server = RawServer.saying(OK + "\r\n{}")) {
            System.setProperty("http.nonProxyHosts", "");
            System.setProperty("socksNonProxyHosts", "");
            assertEquals("{}", get(http, server.url()));
        } finally {
            System.clearProperty(property);
            System.clearProperty("http.nonProxyHosts");
            System.clearProperty("socksNonProxyHosts");
        }
    }

    private static GuardedHttp http(String... listed) {
        return new GuardedHttp(new Destinations(List.of(listed)), new Limits(SMALL, MUCH_LATER));
    }

    private static GuardedHttp hasty() {
        return new GuardedHttp(new Destinations(List.of("127.0.0.1")), new Limits(SMALL, TIMEOUT));
    }

    private static String get(GuardedHttp http, String url) throws OutboundFailure {
        return http.get(document(url), body -> new String(body, StandardCharsets.UTF_8));
    }

    private static GuardedHttp.Document document(String url) {
        return new Document("acme", url, Optional.empty(), MUCH_LATER);
    }

    private static OutboundFailure failure(GuardedHttp http, String url) {
        OutboundFailure failure =
                assertThrows(OutboundFailure.class, () -> http.get(document(url), body -> body));
        assertFalse(message(failure).contains("s3cret"), failure::getMessage);
        return failure;
    }

    private static String message(Exception e) {
        return String.valueOf(e.getMessage());
    }

    private static void endless(OutputStream out) throws IOException {
        out.write(ascii(OK + "Transfer-Encoding: chunked\r\n\r\n"));
        while (true) {
            out.write(ascii("5\r\nxxxxx\r\n"));
        }
    }

    /** A space is a byte that no head and no body ends with. */
    private static void drip(OutputStream out, String beginning) throws IOException {
        out.write(ascii(beginning));
        while (true) {
            out.write(' ');
            out.flush();
            try {
                Thread.sleep(TIMEOUT.dividedBy(10));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
