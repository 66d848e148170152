package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;

import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import javax.net.ServerSocketFactory;

/** A server that keeps its connections, by TLS where nothing else is said. */
final class TenantHttpClientsTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s";

    /** Not long to wait for an answer that never ends. */
    private static final Duration SOON = Duration.ofSeconds(2);

    private final Authority authority = new Authority();
    private final AtomicInteger connections = new AtomicInteger();
    private final List<AutoCloseable> open = new CopyOnWriteArrayList<>();
    private Optional<TenantHttpClients> clients = Optional.empty();

    @AfterEach
    void stop() throws Exception {
        clients.ifPresent(TenantHttpClients::close);
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    @Test
    void a_tenant_uses_its_connection_again() throws Exception {
        String url = secured("");

        assertEquals("/1", get("acme", url + "/1"));
        assertEquals("/2", get("acme", url + "/2"));
        assertEquals(1, connections.get());
    }

    @Test
    void tenants_share_no_connection() throws Exception {
        String url = secured("");

        assertEquals("/1", get("acme", url + "/1"));
        assertEquals("/2", get("globex", url + "/2"));
        assertEquals(2, connections.get());
    }

    @ParameterizedTest
    @ValueSource(strings = {"\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstale"})
    void what_is_left_over_ends_a_connection(String more) throws Exception {
        for (String url : List.of(secured(more), plain(more))) {
            connections.set(0);

            assertEquals("/1", get("acme", url + "/1"));
            assertEquals("/2", get("acme", url + "/2"));
            assertEquals(2, connections.get());
        }
    }

    @Test
    void an_answer_without_a_body_ends_its_connection() throws Exception {
        String url =
                serve(ServerSocketFactory.getDefault(), "http", _ -> "HTTP/1.1 204 No\r\n\r\n");

        get("acme", url + "/1");
        get("acme", url + "/2");
        assertEquals(2, connections.get());
    }

    @Test
    void a_tenant_asks_services_over_its_connection_and_over_no_other() throws Exception {
        String url =
                serve(
                        authority.server("sts.test").getServerSocketFactory(),
                        "https",
                        TenantHttpClientsTest::ok);

        assertEquals("{\"path\":\"/1\"}", post("acme", url + "/1"));
        assertEquals("{\"path\":\"/2\"}", post("acme", url + "/2"));
        assertEquals(1, connections.get());
        assertEquals("{\"path\":\"/3\"}", post("globex", url + "/3"));
        assertEquals(2, connections.get());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 307 Away\r\nLocation: /2\r\nContent-Length: 2\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{",
                "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"path\":\"1\"}{}",
            })
    void an_answer_that_is_not_taken_ends_its_connection(String answer) throws Exception {
        String url = listed(path -> path.equals("/1") ? answer : ok(path));
        try {
            post("acme", url + "/1", SOON);
        } catch (OutboundFailure e) {
            assertEquals(1, connections.get());
        }

        assertEquals("{\"path\":\"/2\"}", post("acme", url + "/2"));
        assertEquals(2, connections.get());
    }

    /** Otherwise the client reads it to its end, which never comes. */
    @Test
    void an_endless_answer_that_nobody_reads_is_cut() throws Exception {
        try (RawServer server =
                RawServer.plain(out -> {
                    out.write(
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                    .getBytes(StandardCharsets.US_ASCII));
                    while (true) {
                        out.write("1\r\nx\r\n".getBytes(StandardCharsets.US_ASCII));
                    }
                })) {
            var sender = new Sender("acme", () -> {});
            int read =
                    assertTimeoutPreemptively(
                            Eventually.PATIENCE,
                            () ->
                                    clients()
                                            .execute(
                                                    sender,
                                                    new HttpGet(server.origin()),
                                                    answer ->
                                                            answer.getEntity()
                                                                    .getContent()
                                                                    .readNBytes(10)
                                                                    .length));
            assertEquals(10, read);
            server.awaitLeaving();
        }
    }

    @Test
    void a_request_that_its_sender_does_not_let_go_has_a_connection_and_sends_nothing()
            throws Exception {
        AtomicInteger bytes = new AtomicInteger();
        AtomicInteger left = new AtomicInteger();
        try (RawServer server =
                RawServer.serving(client -> {
                    try {
                        bytes.addAndGet(client.getInputStream().read() < 0 ? 0 : 1);
                    } finally {
                        left.incrementAndGet();
                    }
                })) {
            NotSent reason =
                    new NotSent("for the test") {
                        private static final long serialVersionUID = 1L;
                    };
            Sender sender =
                    new Sender(
                            "acme",
                            () -> {
                                throw reason;
                            });
            OutboundRequest post = new FormBody().with("a", "b").to(server.origin());

            assertSame(
                    reason,
                    assertThrows(
                            NotSent.class,
                            () -> clients().post(sender, post, Eventually.PATIENCE)));
            assertSame(
                    reason,
                    assertThrows(
                            NotSent.class,
                            () ->
                                    clients()
                                            .execute(
                                                    sender,
                                                    new HttpGet(server.origin()),
                                                    _ -> "answered")));
            Eventually.holds(() -> left.get() == 2);
            assertEquals(2, server.connections());
            assertEquals(0, bytes.get());
        }
    }

    @Test
    void an_answer_that_comes_too_late_is_nobodys() throws Exception {
        CountDownLatch given = new CountDownLatch(1);
        String url =
                listed(path -> {
                    if (path.equals("/1")) {
                        Unchecked.await(given);
                    }
                    return ok(path);
                });
        OutboundRequest late = new FormBody().with("a", "b").to(url + "/1");
        OutboundFailure failure =
                assertThrows(
                        OutboundFailure.class,
                        () -> clients().post(sender("acme"), late, Duration.ofMillis(300)));
        assertEquals(OutboundFailure.Kind.TIMED_OUT, failure.kind());

        given.countDown();
        assertEquals("{\"path\":\"/2\"}", post("acme", url + "/2"));
        assertEquals(2, connections.get());
    }

    /** At an address to which http may be spoken. */
    private String listed(Speech speech) throws IOException {
        return serve(ServerSocketFactory.getDefault(), "http", speech)
                .replace("sts.test", "127.0.0.1");
    }

    private static String ok(String path) {
        String body = "{\"path\":\"%s\"}".formatted(path);
        return OK.formatted(body.length(), body);
    }

    private static Sender sender(String tenant) {
        return new Sender(tenant, () -> {});
    }

    private String post(String tenant, String url) throws Exception {
        return post(tenant, url, Eventually.PATIENCE);
    }

    private String post(String tenant, String url, Duration timeout) throws Exception {
        Reply reply =
                clients().post(sender(tenant), new FormBody().with("a", "b").to(url), timeout);
        return "{\"path\":\"%s\"}".formatted(reply.answer().words("path").orElseThrow());
    }

    private String secured(String more) throws Exception {
        return serve(
                authority.server("sts.test").getServerSocketFactory(),
                "https",
                path -> OK.formatted(path.length(), path) + more);
    }

    private String plain(String more) throws Exception {
        return serve(
                ServerSocketFactory.getDefault(),
                "http",
                path -> OK.formatted(path.length(), path) + more);
    }

    private TenantHttpClients clients() throws Exception {
        if (clients.isEmpty()) {
            clients =
                    Optional.of(
                            new TenantHttpClients(
                                    new Destinations(
                                            List.of("127.0.0.1"),
                                            _ ->
                                                    new InetAddress[] {
                                                        InetAddress.ofLiteral("127.0.0.1")
                                                    }),
                                    Trust.only(authority.pem())));
        }
        return clients.get();
    }

    private String get(String tenant, String url) throws Exception {
        return clients()
                .execute(
                        sender(tenant),
                        new HttpGet(url),
                        answer ->
                                answer.getEntity() == null
                                        ? ""
                                        : EntityUtils.toString(answer.getEntity()));
    }

    private interface Speech {
        String about(String path);
    }

    private String serve(ServerSocketFactory sockets, String scheme, Speech speech)
            throws IOException {
        ServerSocket listening =
                sockets.createServerSocket(0, 0, InetAddress.ofLiteral("127.0.0.1"));
        open.add(listening);
        Thread.ofVirtual().start(() -> accept(listening, speech));
        return "%s://sts.test:%d".formatted(scheme, listening.getLocalPort());
    }

    private void accept(ServerSocket listening, Speech speech) {
        try {
            while (true) {
                Socket client = listening.accept();
                open.add(client);
                connections.incrementAndGet();
                Thread.ofVirtual().start(() -> serve(client, speech));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private static void serve(Socket client, Speech speech) {
        try (client;
                var in =
                        new BufferedReader(
                                new InputStreamReader(
                                        client.getInputStream(), StandardCharsets.US_ASCII))) {
            OutputStream out = client.getOutputStream();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.matches("(a=b)?(GET|POST) .*")) { // a form has no line end
                    String path = line.substring(line.indexOf('/'), line.lastIndexOf(' '));
                    while (!in.readLine().isEmpty()) {}
                    out.write(speech.about(path).getBytes(StandardCharsets.US_ASCII));
                }
            }
        } catch (IOException e) {
            // the client has left
        }
    }
}
