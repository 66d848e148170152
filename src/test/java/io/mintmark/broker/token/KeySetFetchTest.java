package io.mintmark.broker.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Where keys are looked for, against an issuer over HTTP. */
final class KeySetFetchTest {
    private static final String ELSEWHERE = "/oauth/keys";
    private static final String ONE_KEY = "1 keys";
    private static final GuardedHttp HTTP = new GuardedHttp(new Destinations(List.of("127.0.0.1")));
    private static final TenantName TENANT = new TenantName("acme");

    @AutoClose private final IssuerStandIn issuer = IssuerStandIn.start();
    private final KeySetFetch published = new KeySetFetch(HTTP);

    @Test
    void inline_keys_need_no_network() throws Exception {
        issuer.goDown();
        assertEquals(ONE_KEY, fetch(Optional.of(issuer.jwks()), Optional.of(issuer.url())));
    }

    @Test
    void jwks_uri_is_the_only_place_where_there_is_one() throws Exception {
        issuer.publishKeysAt(ELSEWHERE);
        assertEquals(ONE_KEY, fetchAt(issuer.url() + ELSEWHERE));
        assertThrows(IOException.class, () -> fetchAt(issuer.url() + "/nothing"));
        assertEquals(List.of(ELSEWHERE, "/nothing"), issuer.fetched());
    }

    @Test
    void the_default_address_comes_first() throws Exception {
        assertEquals(ONE_KEY, fetch());
        assertEquals(List.of(IssuerStandIn.KEYS), issuer.fetched());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "<html>",
                "[]",
                "{}",
                "{\"keys\":null}",
                "{\"keys\":{}}",
                "{\"keys\":1}"
            })
    void discovery_helps_where_the_default_address_gives_no_key_set(String answer)
            throws Exception {
        issuer.publishByDiscovery(issuer.url(), issuer.url() + ELSEWHERE);
        issuer.publishKeysAt(ELSEWHERE);
        issuer.serve(IssuerStandIn.KEYS, answer);
        assertEquals(ONE_KEY, fetch());
        assertEquals(
                List.of(IssuerStandIn.KEYS, IssuerStandIn.DISCOVERY, ELSEWHERE), issuer.fetched());
    }

    @Test
    void discovery_helps_where_the_default_address_is_missing_or_redirects() throws Exception {
        issuer.publishByDiscovery(issuer.url(), issuer.url() + ELSEWHERE);
        issuer.publishKeysAt(ELSEWHERE);
        assertEquals(ONE_KEY, fetch());
        issuer.redirect(IssuerStandIn.KEYS, issuer.url() + ELSEWHERE);
        assertEquals(ONE_KEY, fetch());
    }

    @Test
    void discovery_is_not_tried_where_nobody_answers() {
        issuer.goDown();
        IOException failure = assertThrows(IOException.class, this::fetch);
        assertEquals(0, failure.getSuppressed().length);
    }

    @Test
    void keys_that_are_not_enough_are_followed_by_those_that_discovery_names() throws Exception {
        TestKey other = publishElsewhere();

        KeySet keys = published.fetch(issuer.keySource(), TENANT, _ -> false);

        assertEquals("2 keys", keys.toString());
        assertTrue(keys.isComplete() && keys.isOfAllPlaces());
        for (TestKey key : List.of(issuer.key(), other)) {
            assertEquals(KeySet.Finding.VERIFIED, keys.check(tokenOf(key)));
        }
        assertEquals(
                List.of(IssuerStandIn.KEYS, IssuerStandIn.DISCOVERY, ELSEWHERE), issuer.fetched());
    }

    @Test
    void keys_that_are_enough_are_all_that_is_asked_for() throws Exception {
        publishElsewhere();
        KeySet keys = published.fetch(issuer.keySource(), TENANT, _ -> true);
        assertEquals(ONE_KEY, keys.toString());
        assertFalse(keys.isOfAllPlaces());
        assertEquals(List.of(IssuerStandIn.KEYS), issuer.fetched());
    }

    @Test
    void an_empty_set_at_the_default_address_does_not_win_over_discovery() throws Exception {
        publishElsewhere();
        issuer.serve(IssuerStandIn.KEYS, "{\"keys\":[]}");
        assertEquals(ONE_KEY, fetch());
    }

    @Test
    void a_discovery_document_that_names_the_same_keys_adds_none() throws Exception {
        issuer.publishKeysAt(ELSEWHERE);
        issuer.serve(IssuerStandIn.DISCOVERY, discovery(issuer.url() + ELSEWHERE));
        assertFalse(published.fetch(issuer.keySource(), TENANT, _ -> false).hasSecond());
    }

    @ParameterizedTest
    @ValueSource(ints = {404, 302, 200})
    void where_there_is_no_discovery_the_default_address_has_all_keys(int status) throws Exception {
        issuer.serve(IssuerStandIn.DISCOVERY, exchange -> exchange.sendResponseHeaders(status, -1));
        KeySet keys = published.fetch(issuer.keySource(), TENANT, _ -> false);
        assertTrue(keys.isComplete() && keys.isOfAllPlaces());
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 503, 429})
    void where_discovery_fails_for_now_keys_may_be_missing(int status) throws Exception {
        issuer.serve(IssuerStandIn.DISCOVERY, exchange -> exchange.sendResponseHeaders(status, -1));
        KeySet keys = published.fetch(issuer.keySource(), TENANT, _ -> false);
        assertFalse(keys.isComplete());
        assertEquals(ONE_KEY, keys.toString());
    }

    @Test
    void all_documents_of_a_fetch_have_one_deadline() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        Duration each = Duration.ofMillis(200);
        issuer.serve(IssuerStandIn.KEYS, late(never, each, "none"));
        issuer.serve(
                IssuerStandIn.DISCOVERY, late(never, each, discovery(issuer.url() + ELSEWHERE)));
        issuer.serve(ELSEWHERE, late(never, each, issuer.jwks()));

        assertEquals(ONE_KEY, fetch());
        IOException failure =
                assertThrows(
                        IOException.class,
                        () ->
                                new KeySetFetch(HTTP, each.multipliedBy(2).plusMillis(100))
                                        .fetch(issuer.keySource(), TENANT, KeySetFetchTest::isAny));
        assertEquals(
                "/.well-known/jwks.json is not valid JSON at line 1, column 1; jwks_uri of"
                        + " /.well-known/openid-configuration: 127.0.0.1 didn't answer in time",
                failure.getMessage());
    }

    /** As a kube-apiserver's go-restful does: each document has one type, or 406. */
    @Test
    void a_server_that_insists_on_the_type_of_its_documents_is_satisfied() throws Exception {
        issuer.publishByDiscovery(issuer.url(), issuer.url() + "/openid/v1/jwks");
        issuer.serve(
                IssuerStandIn.DISCOVERY,
                only("application/json", discovery(issuer.url() + "/openid/v1/jwks")));
        issuer.serve("/openid/v1/jwks", only("application/jwk-set+json", issuer.jwks()));
        assertEquals(ONE_KEY, fetch());
        issuer.serve("/openid/v1/jwks", only("application/vnd.example+json", issuer.jwks()));
        assertEquals(ONE_KEY, fetchAt(issuer.url() + "/openid/v1/jwks"));
    }

    @Test
    void a_tenant_whose_issuers_hang_leaves_fetches_to_others() throws Exception {
        issuer.hang();
        try (IssuerStandIn other = IssuerStandIn.start();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 2 * KeySetFetch.OF_A_TENANT; i++) {
                String address = issuer.url() + "/" + i;
                var _ = threads.submit(() -> fetchAt(address));
            }
            Eventually.holds(() -> issuer.fetches() == KeySetFetch.OF_A_TENANT);

            assertEquals(
                    ONE_KEY,
                    published
                            .fetch(
                                    other.keySource(),
                                    new TenantName("globex"),
                                    KeySetFetchTest::isAny)
                            .toString());
            OutboundFailure failure =
                    assertThrows(OutboundFailure.class, () -> fetchAt(issuer.url() + "/more"));
            assertEquals(OutboundFailure.Kind.BUSY, failure.kind());
            issuer.resume();
        }
    }

    /** What an operator reads must name the document that is at fault. */
    @Test
    void both_documents_are_named_where_neither_leads_to_keys() {
        issuer.serve(IssuerStandIn.KEYS, "<html>");
        assertFault(
                "/.well-known/jwks.json is HTML or XML instead of JSON;"
                        + " /.well-known/openid-configuration: 127.0.0.1 answered with status 404");
        issuer.serve(IssuerStandIn.KEYS, exchange -> exchange.sendResponseHeaders(429, -1));
        assertFault(
                "/.well-known/jwks.json: 127.0.0.1 answered with status 429;"
                        + " /.well-known/openid-configuration: 127.0.0.1 answered with status 404");
        issuer.redirect(IssuerStandIn.KEYS, issuer.url() + ELSEWHERE);
        issuer.serve(IssuerStandIn.DISCOVERY, "{\"issuer\":\"https://other.example\"}");
        assertFault(
                "/.well-known/jwks.json: 127.0.0.1 answered with a redirect, which the broker doesn't follow; /.well-known/openid-configuration names another issuer, 'https://other.example'");
        issuer.serve(IssuerStandIn.KEYS, "{\"keys\":[],\"x\":\"" + "x".repeat(1 << 20) + "\"}");
        issuer.serve(IssuerStandIn.DISCOVERY, "{\"issuer\":\"%s\"}".formatted(issuer.url()));
        assertFault(
                "/.well-known/jwks.json: 127.0.0.1 answered with over 1048576 bytes;"
                        + " /.well-known/openid-configuration has no jwks_uri");
        issuer.serve(IssuerStandIn.KEYS, "\uFEFF" + issuer.jwks());
        issuer.serve(IssuerStandIn.DISCOVERY, discovery(issuer.url() + ELSEWHERE));
        issuer.serve(ELSEWHERE, "{\"jwks\":[]}");
        assertFault(
                "/.well-known/jwks.json begins with a byte order mark, which JSON must not have"
                        + " (RFC 8259 section 8.1); jwks_uri of /.well-known/openid-configuration"
                        + " has no field 'keys'");
    }

    private void assertFault(String expected) {
        assertEquals(expected, assertThrows(IOException.class, this::fetch).getMessage());
    }

    @Test
    void a_set_without_usable_keys_is_a_set() throws Exception {
        issuer.serve(IssuerStandIn.KEYS, "{\"keys\":[]}");
        assertEquals("0 keys", fetch());
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://other.example", "%s/", "", "HTTP://127.0.0.1"})
    void a_discovery_document_of_another_issuer_counts_for_nothing(String other) {
        issuer.publishByDiscovery(other.formatted(issuer.url()), issuer.url() + ELSEWHERE);
        issuer.publishKeysAt(ELSEWHERE);
        assertThrows(IOException.class, this::fetch);
        assertEquals(List.of(IssuerStandIn.KEYS, IssuerStandIn.DISCOVERY), issuer.fetched());
    }

    @Test
    void one_trailing_slash_is_dropped_for_addresses_and_kept_for_comparison() throws Exception {
        issuer.publishByDiscovery(issuer.url() + "/", issuer.url() + ELSEWHERE);
        issuer.publishKeysAt(ELSEWHERE);
        assertEquals(
                ONE_KEY,
                published
                        .fetch(
                                source(issuer.url() + "/", Optional.empty(), Optional.empty()),
                                TENANT,
                                KeySetFetchTest::isAny)
                        .toString());
        assertEquals(
                List.of(IssuerStandIn.KEYS, IssuerStandIn.DISCOVERY, ELSEWHERE), issuer.fetched());
    }

    @Test
    void a_redirect_is_not_a_way_to_the_keys() {
        issuer.publishKeysAt(ELSEWHERE);
        issuer.redirect("/moved", issuer.url() + ELSEWHERE);
        assertThrows(OutboundFailure.class, () -> fetchAt(issuer.url() + "/moved"));
        assertEquals(List.of("/moved"), issuer.fetched());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://169.254.169.254/latest/meta-data/",
                "https://169.254.169.254/",
                "https://10.0.0.1/",
                "file:///etc/passwd",
                "https://[::ffff:10.0.0.1]/",
                "http://issuer.example/keys",
                "https://2852039166/"
            })
    void a_discovery_document_can_not_send_the_broker_where_it_may_not_go(String inside) {
        issuer.publishByDiscovery(issuer.url(), inside);
        assertThrows(IOException.class, this::fetch);
        assertEquals(List.of(IssuerStandIn.KEYS, IssuerStandIn.DISCOVERY), issuer.fetched());
    }

    @Test
    void an_answer_that_is_too_large_is_refused() {
        issuer.serve("/large", "{\"keys\":[],\"x\":\"" + "x".repeat(1 << 20) + "\"}");
        assertThrows(OutboundFailure.class, () -> fetchAt(issuer.url() + "/large"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"kubernetes", "", "urn:x", "http://x.y"})
    void an_issuer_that_is_no_address_has_no_keys(String name) {
        assertThrows(
                IOException.class,
                () ->
                        published.fetch(
                                source(name, Optional.empty(), Optional.empty()),
                                TENANT,
                                KeySetFetchTest::isAny));
    }

    private TestKey publishElsewhere() {
        TestKey other = TestKey.es256("other");
        issuer.serve(ELSEWHERE, "{\"keys\":[%s]}".formatted(other.publicJwk()));
        issuer.serve(IssuerStandIn.DISCOVERY, discovery(issuer.url() + ELSEWHERE));
        return other;
    }

    private String discovery(String jwksUri) {
        return "{\"issuer\":\"%s\",\"jwks_uri\":\"%s\"}".formatted(issuer.url(), jwksUri);
    }

    private static HttpHandler late(CountDownLatch never, Duration wait, String body) {
        return exchange -> {
            try {
                var _ = never.await(wait.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            answer(exchange, body);
        };
    }

    private static HttpHandler only(String type, String body) {
        return exchange -> {
            String accepted = exchange.getRequestHeaders().getFirst("Accept");
            if (accepted != null && !accepted.contains("*/*") && !accepted.contains(type)) {
                exchange.sendResponseHeaders(406, -1);
            } else {
                answer(exchange, body);
            }
        };
    }

    private static void answer(HttpExchange exchange, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private static Jwt tokenOf(TestKey key) {
        String header = "{\"alg\":\"ES256\",\"kid\":\"%s\"}".formatted(key.id());
        return TestKey.parsed(key.sign(header, "{}"));
    }

    private static boolean isAny(KeySet keys) {
        return !keys.isEmpty();
    }

    private String fetch() throws IOException {
        return fetch(Optional.empty(), Optional.empty());
    }

    private String fetchAt(String jwksUri) throws IOException {
        return fetch(Optional.empty(), Optional.of(jwksUri));
    }

    private String fetch(Optional<String> jwks, Optional<String> jwksUri) throws IOException {
        return published
                .fetch(source(issuer.url(), jwks, jwksUri), TENANT, KeySetFetchTest::isAny)
                .toString();
    }

    private static KeySource source(String name, Optional<String> jwks, Optional<String> jwksUri) {
        return new KeySource(name, jwks, jwksUri, Optional.empty());
    }
}
