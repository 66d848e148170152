package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.CompileTimeConstant;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.tngtech.archunit.core.importer.ClassFileImporter;

import io.mintmark.base.outbound.OutboundFailure.Kind;
import io.mintmark.base.tenant.MintId;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

final class OutboundRequestTest {
    private static final Duration TIMEOUT = Eventually.PATIENCE;

    private record Seen(
            String method, String path, String type, String authorization, String body) {}

    private final BlockingQueue<Seen> seen = new LinkedBlockingQueue<>();
    private final GuardedHttp http = new GuardedHttp(new Destinations(List.of("127.0.0.0/8")));
    private HttpServer server;
    private int status = 200;
    private Map<String, String> headers = Map.of();
    private String answer = "{}";

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void sends_a_form_once_and_shows_the_answer() throws Exception {
        Reply reply = http.post(new FormBody().with("a", "1").with("b", " ").to(url()), TIMEOUT);
        assertEquals(200, reply.status());
        assertTrue(reply.answer().isReadable());
        assertEquals(
                List.of(
                        new Seen(
                                "POST",
                                "/token",
                                "application/x-www-form-urlencoded",
                                "null",
                                "a=1&b=+")),
                List.copyOf(seen));
    }

    @Test
    void deletes_without_a_body() throws Exception {
        http.post(OutboundRequest.deletion(url()).authorized(new Secret("x")), TIMEOUT);
        assertEquals(new Seen("DELETE", "/token", "null", "Bearer x", ""), seen.take());
    }

    @Test
    void a_request_can_expect_a_longer_answer() throws Exception {
        answer = "{\"a\":\"" + "x".repeat(100_000) + "\"}";
        OutboundRequest usual = OutboundRequest.json(url(), "{}", new Secret("1"));
        assertEquals(
                Kind.TOO_LARGE,
                assertThrows(OutboundFailure.class, () -> http.post(usual, TIMEOUT)).kind());
        assertTrue(http.post(usual.answeredWithin(200_000), TIMEOUT).answer().isReadable());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Retry-After", "X-RateLimit-Remaining"})
    void headers_say_that_there_were_too_many_requests(String header) throws Exception {
        OutboundRequest post = OutboundRequest.deletion(url());
        assertFalse(http.post(post, TIMEOUT).isThrottled());
        headers = Map.of(header, "0");
        assertTrue(http.post(post, TIMEOUT).isThrottled());
    }

    @Test
    void sends_json_and_an_authorization() throws Exception {
        http.post(
                OutboundRequest.json(url(), "{\"ä\":1}", new Secret("1"))
                        .authorized(new Secret("x")),
                TIMEOUT);
        assertEquals(
                new Seen("POST", "/token", "application/json", "Bearer x", "{\"ä\":1}"),
                seen.take());
    }

    @ParameterizedTest
    @ValueSource(ints = {201, 400, 401, 429, 500, 503})
    void an_error_is_an_answer_too(int code) throws Exception {
        status = code;
        answer = "{\"error\":\"invalid_grant\"}";
        headers = Map.of("Retry-After", "7");
        Reply reply = http.post(new FormBody().to(url()), TIMEOUT);
        assertEquals(code, reply.status());
        assertEquals(Optional.of("invalid_grant"), reply.answer().code("error"));
        assertEquals(Optional.of("7"), reply.retryAfter());
    }

    @Test
    void a_redirect_is_not_followed() {
        status = 307;
        headers = Map.of("Location", url());
        assertEquals(Kind.REDIRECTED, failure(http, url()).kind());
        assertEquals(1, seen.size());
    }

    @Test
    void nothing_goes_where_the_broker_may_not_connect_to() {
        GuardedHttp strict = new GuardedHttp(new Destinations(List.of()));
        assertEquals(Kind.DESTINATION_REFUSED, failure(strict, url()).kind());
        assertEquals(0, seen.size());
    }

    @Test
    void plain_http_goes_to_hosts_that_the_operator_lists_and_to_no_others() {
        assertEquals(Kind.ADDRESS_UNUSABLE, failure(http, "http://sts.example.com/token").kind());
        GuardedHttp listed = new GuardedHttp(new Destinations(List.of("sts.invalid")));
        assertEquals(Kind.UNREACHABLE, failure(listed, "http://sts.invalid/token").kind());
    }

    @Test
    void what_is_sent_and_what_comes_back_does_not_print() throws Exception {
        OutboundRequest post =
                new FormBody()
                        .with("a", new Secret("s3cret"))
                        .to(url())
                        .authorized(new Secret("s3cret"));
        answer = "{\"a\":\"s3cret\"}";
        assertFalse(post.toString().contains("s3cret"), post::toString);
        String reply = http.post(post, TIMEOUT).toString();
        assertFalse(reply.contains("s3cret"), reply);
    }

    @Test
    void a_secret_in_a_header_of_a_provider_is_hidden_where_the_answer_quotes_it()
            throws Exception {
        String key = "k3y-of-the-provider";
        OutboundRequest post = OutboundRequest.deletion(url()).with("X-Api-Key", new Secret(key));
        status = 403;
        answer = "{\"error\":\"denied\",\"message\":\"no access with " + key + "\"}";
        Reply reply = http.post(post, TIMEOUT);
        assertEquals(Optional.of("no access with [secret]"), reply.answer().words("message"));
    }

    /** Any other text could be a secret that nothing hides. */
    @Test
    void the_value_of_a_header_is_a_secret_the_id_of_a_mint_or_a_constant() {
        var values =
                new ClassFileImporter()
                                .importClasses(OutboundRequest.class)
                                .get(OutboundRequest.class)
                                .getMethods()
                                .stream()
                                .filter(method -> method.getName().equals("with"))
                                .map(method -> method.getParameters().get(1))
                                .filter(value -> !value.getRawType().isEquivalentTo(Secret.class))
                                .filter(value -> !value.getRawType().isEquivalentTo(MintId.class))
                                .filter(value -> !value.isAnnotatedWith(CompileTimeConstant.class))
                                .toList();
        assertEquals(List.of(), values);
        assertEquals(
                0, OutboundRequest.Header.class.getConstructors().length, "anyone can make one");
    }

    private static OutboundFailure failure(GuardedHttp http, String url) {
        return assertThrows(
                OutboundFailure.class, () -> http.post(new FormBody().to(url), TIMEOUT));
    }

    private String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/token";
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            seen.add(
                    new Seen(
                            exchange.getRequestMethod(),
                            exchange.getRequestURI().toString(),
                            String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type")),
                            String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")),
                            new String(
                                    exchange.getRequestBody().readAllBytes(),
                                    StandardCharsets.UTF_8)));
            headers.forEach(exchange.getResponseHeaders()::set);
            byte[] body = answer.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }
}
