package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.outbound.OutboundFailure.Kind;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** A server at {@code issuer.test}, which a look-up made for the test finds on loopback. */
final class GuardedTlsTest {
    private final Authority authority = new Authority();
    private final List<String> lookedUp = new ArrayList<>();
    @AutoClose private RawServer server;

    @BeforeEach
    void start() throws Exception {
        server =
                RawServer.answering(
                        authority.server("issuer.test").getServerSocketFactory(),
                        out ->
                                out.write(
                                        "HTTP/1.1 200 OK\r\n\r\n{}"
                                                .getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void believes_the_authority_that_the_row_names() throws Exception {
        assertEquals("{}", get("issuer.test", Optional.of(authority.pem())));
    }

    /** As many as change keys cost more than a document; these have a byte each. */
    @Test
    void records_with_next_to_nothing_in_them_are_cut_off_soon() throws Exception {
        assertEquals("{}" + " ".repeat(100), recordsOfAByte(100));
        assertEquals(
                Kind.CUT_OFF,
                assertThrows(OutboundFailure.class, () -> recordsOfAByte(2_000)).kind());
    }

    private String recordsOfAByte(int count) throws Exception {
        server.close();
        server =
                RawServer.answering(
                        authority.server("issuer.test").getServerSocketFactory(),
                        out -> {
                            out.write(
                                    "HTTP/1.1 200 OK\r\n\r\n{}"
                                            .getBytes(StandardCharsets.US_ASCII));
                            for (int i = 0; i < count; i++) {
                                out.write(' ');
                                out.flush();
                            }
                        });
        lookedUp.clear();
        return get("issuer.test", Optional.of(authority.pem()));
    }

    @Test
    void believes_only_public_authorities_where_the_row_names_none() {
        assertEquals(Kind.NOT_TRUSTED, failure("issuer.test", Optional.empty()));
    }

    @Test
    void believes_no_other_authority_than_the_one_named() throws Exception {
        assertEquals(Kind.NOT_TRUSTED, failure("issuer.test", Optional.of(new Authority().pem())));
    }

    @Test
    void a_certificate_for_another_name_proves_nothing() throws Exception {
        assertEquals(Kind.NOT_TRUSTED, failure("other.test", Optional.of(authority.pem())));
    }

    @Test
    void an_authority_that_can_not_be_read_is_told_as_such() {
        assertEquals(Kind.AUTHORITY_UNREADABLE, failure("issuer.test", Optional.of("nonsense")));
        assertEquals(Kind.AUTHORITY_UNREADABLE, failure("issuer.test", Optional.of("")));
        assertEquals(
                Kind.AUTHORITY_UNREADABLE,
                failure(
                        "issuer.test",
                        Optional.of(
                                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")));
    }

    /** As an API server of Kubernetes, which has an authority of its own. */
    @Test
    void a_request_of_a_tenants_can_name_its_authority() throws Exception {
        OutboundRequest post =
                OutboundRequest.deletion("https://issuer.test:" + server.port() + "/");
        assertEquals(Kind.NOT_TRUSTED, refusal(post, () -> {}).kind());
        assertEquals(
                Kind.NOT_TRUSTED, refusal(post.trusting(new Authority().pem()), () -> {}).kind());
        assertEquals(
                Kind.AUTHORITY_UNREADABLE, refusal(post.trusting("nonsense"), () -> {}).kind());

        assertEquals(200, send(post.trusting(authority.pem()), () -> {}).status());
    }

    @Test
    void the_last_check_comes_before_such_a_request_is_sent() throws Exception {
        AtomicInteger checks = new AtomicInteger();
        OutboundRequest post =
                OutboundRequest.deletion("https://issuer.test:" + server.port() + "/")
                        .trusting(authority.pem());

        send(post, checks::incrementAndGet);

        assertEquals(1, checks.get());
    }

    private Reply send(OutboundRequest post, Runnable lastCheck) throws OutboundFailure {
        lookedUp.clear();
        try (var clients =
                new TenantHttpClients(new Destinations(List.of("127.0.0.1"), this::addresses))) {
            return clients.post(new Sender("acme", lastCheck), post, GuardedHttp.TIMEOUT);
        }
    }

    private OutboundFailure refusal(OutboundRequest post, Runnable lastCheck) {
        return assertThrows(OutboundFailure.class, () -> send(post, lastCheck));
    }

    /** A name server that gives another address the second time is not asked a second time. */
    @Test
    void connects_to_the_address_that_was_checked() throws Exception {
        get("issuer.test", Optional.of(authority.pem()));
        assertEquals(List.of("issuer.test"), lookedUp);
    }

    private String get(String host, Optional<String> authorityPem) throws OutboundFailure {
        Destinations destinations = new Destinations(List.of("127.0.0.1"), this::addresses);
        return new String(
                new GuardedHttp(destinations)
                        .get(
                                new GuardedHttp.Document(
                                        "acme",
                                        "https://" + host + ":" + server.port() + "/",
                                        authorityPem,
                                        GuardedHttp.TIMEOUT),
                                body -> body),
                StandardCharsets.UTF_8);
    }

    private Kind failure(String host, Optional<String> authorityPem) {
        return assertThrows(OutboundFailure.class, () -> get(host, authorityPem)).kind();
    }

    /** First inside and outside mixed, of which the guard drops the inside; then inside only. */
    private InetAddress[] addresses(String host) {
        lookedUp.add(host);
        InetAddress inside = InetAddress.ofLiteral("10.0.0.1");
        return lookedUp.size() == 1
                ? new InetAddress[] {inside, InetAddress.ofLiteral("127.0.0.1")}
                : new InetAddress[] {inside};
    }
}
