package io.mintmark.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.GuardedHttp;
import io.mintmark.outbound.OutboundFailure;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Where keys are looked for, against an issuer over HTTP. */
final class KeySetFetchTest {
    private static final String ELSEWHERE = "/oauth/keys";
    private static final String ONE_KEY = "1 keys";

    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final KeySetFetch published =
            new KeySetFetch(new GuardedHttp(new Destinations(List.of("127.0.0.1"))));

    @AfterEach
    void stop() {
        issuer.close();
    }

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
                        .fetch(source(issuer.url() + "/", Optional.empty(), Optional.empty()))
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
                () -> published.fetch(source(name, Optional.empty(), Optional.empty())));
    }

    private String fetch() throws IOException {
        return fetch(Optional.empty(), Optional.empty());
    }

    private String fetchAt(String jwksUri) throws IOException {
        return fetch(Optional.empty(), Optional.of(jwksUri));
    }

    private String fetch(Optional<String> jwks, Optional<String> jwksUri) throws IOException {
        return published.fetch(source(issuer.url(), jwks, jwksUri)).toString();
    }

    private static KeySource source(String name, Optional<String> jwks, Optional<String> jwksUri) {
        return new KeySource(name, jwks, jwksUri, Optional.empty());
    }
}
