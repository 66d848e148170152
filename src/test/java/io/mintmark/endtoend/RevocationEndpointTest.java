package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.base.tenant.MintId;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/** The lists of ended certificates, from the admin's row to the answer that servers fetch. */
class RevocationEndpointTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir static Path secrets;

    private static Ca ca;
    @AutoClose private static World world;

    @BeforeAll
    static void start() throws IOException {
        ca = Ca.of("EC", Duration.ofDays(1));
        world = new World(Map.of("SECRETS_DIR", secrets.toString()));
        Files.createDirectory(secrets.resolve("acme"));
        Files.writeString(secrets.resolve("acme/ca"), ca.key());
        Files.createDirectory(secrets.resolve("other"));
        Files.writeString(secrets.resolve("other/ca"), ca.key());
        Ca expired = Ca.of("EC", Duration.ofMinutes(-1));
        Files.writeString(secrets.resolve("acme/old"), expired.key());
        world.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('other');
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('other', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}'),
                       ('other', 'tls', 'x509', '{"ca_key": {"file": "ca"}, "ca_certificate": %1$s}'),
                       ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}'),
                       ('acme', 'tls', 'x509', '{"ca_key": {"file": "ca"}, "ca_certificate": %1$s}'),
                       ('acme', 'expired', 'x509', '{"ca_key": {"file": "old"}, "ca_certificate": %1$s}'),
                       ('acme', 'lost', 'x509', '{"ca_key": {"file": "lost"}, "ca_certificate": %1$s}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'web', 'hosts', 600, '{"principals": ["deploy"]}'),
                       ('acme', 'db', 'tls', 600, '{"subject": "/CN={key}"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', '%2$s', unnest('{web,db}'::text[]);
                """
                        .formatted(
                                new ObjectMapper().valueToTree(ca.certificate()), World.SUBJECT));
        expires(expired);
        Eventually.holds(() ->
                world.broker().keys(world.token()).body().path("keys").toString().contains("web"));
    }

    /** As time would do it: a row with an expired certificate can't be written. */
    private static void expires(Ca ca) {
        world.database()
                .runAsSuperuser(
                        """
                        ALTER TABLE broker.access_provider DISABLE TRIGGER USER;
                        UPDATE broker.access_provider
                           SET settings = jsonb_set(settings, '{ca_certificate}', '%s') WHERE name = 'expired';
                        ALTER TABLE broker.access_provider ENABLE TRIGGER USER;
                        """
                                .formatted(new ObjectMapper().valueToTree(ca.certificate())));
    }

    private static HttpResponse<byte[]> get(String path, String accept) {
        return ask("GET", path, "Accept", accept);
    }

    private static HttpResponse<byte[]> ask(String method, String path, String... headers) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(world.broker().url().resolve(path))
                        .method(method, HttpRequest.BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        return Unchecked.call(() -> CLIENT.send(request.build(), BodyHandlers.ofByteArray()));
    }

    private static String header(HttpResponse<byte[]> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    private static MintId minted(String key) {
        Answer answer = world.broker().mint(world.token(), key);
        assertEquals(200, answer.status(), answer.toString());
        return new MintId(
                UUID.fromString(
                        world.value(
                                "SELECT mint_id FROM audit.event WHERE kind = 'issued' AND key = '%s' ORDER BY mint_id DESC LIMIT 1"
                                        .formatted(key))));
    }

    private static void end(MintId mint) {
        world.admin(
                "INSERT INTO broker.ended_credential (mint_id, reason) VALUES ('%s', 'INC-7')"
                        .formatted(mint));
    }

    @Test
    void the_ssh_list_has_the_serial_numbers_of_ended_certificates_and_no_name() {
        MintId ended = minted("web");
        MintId living = minted("web");
        end(ended);

        HttpResponse<byte[]> answer = get("/ssh/acme/krl", "*/*");

        assertEquals(200, answer.statusCode());
        assertEquals(
                "application/octet-stream", answer.headers().firstValue("Content-Type").orElse(""));
        String cache = answer.headers().firstValue("Cache-Control").orElse("");
        assertTrue(cache.matches("public, max-age=([1-5]?[0-9]|60)"), cache);
        ByteBuffer list = ByteBuffer.wrap(answer.body());
        assertEquals("SSHKRL\n\0", new String(answer.body(), 0, 8, StandardCharsets.US_ASCII));
        list.position(8);
        assertEquals(1, list.getInt());
        assertTrue(
                list.getLong(20) <= Instant.now().getEpochSecond() - 60,
                "dated back as certificates are");
        int serials = answer.body().length - Long.BYTES;
        assertEquals(ended.value().getLeastSignificantBits(), list.getLong(serials));
        String text = new String(answer.body(), StandardCharsets.ISO_8859_1);
        assertFalse(text.contains("acme") || text.contains("web"));
        assertFalse(text.contains(living.toString()));
    }

    @Test
    void the_x509_list_is_signed_by_the_ca_and_has_the_serial_numbers() throws Exception {
        MintId ended = minted("db");
        MintId living = minted("db");
        end(ended);
        CertificateFactory x509 = CertificateFactory.getInstance("X.509");
        X509Certificate issuer =
                (X509Certificate)
                        x509.generateCertificate(
                                new ByteArrayInputStream(
                                        ca.certificate().getBytes(StandardCharsets.US_ASCII)));

        HttpResponse<byte[]> der = get("/x509/acme/tls/crl", "*/*");
        HttpResponse<byte[]> pem = get("/x509/acme/tls/crl", "text/plain");

        assertEquals("application/pkix-crl", der.headers().firstValue("Content-Type").orElse(""));
        X509CRL list = (X509CRL) x509.generateCRL(new ByteArrayInputStream(der.body()));
        list.verify(issuer.getPublicKey());
        assertEquals(issuer.getSubjectX500Principal(), list.getIssuerX500Principal());
        assertTrue(list.getRevokedCertificate(ended.number()) != null);
        assertTrue(list.getRevokedCertificate(living.number()) == null);
        Duration valid =
                Duration.between(
                        list.getThisUpdate().toInstant(), list.getNextUpdate().toInstant());
        assertEquals(Duration.ofDays(7), valid);
        assertTrue(
                list.getThisUpdate().toInstant().isBefore(Instant.now().minusSeconds(59)),
                "a server whose clock is a minute slow accepts it");
        assertEquals(list, x509.generateCRL(new ByteArrayInputStream(pem.body())));
        assertTrue(
                new String(pem.body(), StandardCharsets.US_ASCII)
                        .startsWith("-----BEGIN X509 CRL-----\n"));
    }

    @Test
    void a_replica_never_serves_a_list_that_is_older_than_that_of_another() {
        try (RunningBroker other =
                RunningBroker.on(world.database(), Map.of("SECRETS_DIR", secrets.toString()))) {
            List<URI> replicas = List.of(world.broker().url(), other.url());
            for (int i = 0; i < 4; i++) {
                replicas.forEach(RevocationEndpointTest::list); // both have one
                MintId ended = minted("web");
                end(ended);
                for (URI replica : replicas) {
                    assertTrue(contains(list(replica), ended), "older than the other's: " + i);
                }
            }
        }
    }

    private static byte[] list(URI replica) {
        HttpRequest request = HttpRequest.newBuilder(replica.resolve("/ssh/acme/krl")).build();
        return Unchecked.call(() -> CLIENT.send(request, BodyHandlers.ofByteArray())).body();
    }

    private static boolean contains(byte[] list, MintId mint) {
        String serial =
                new String(
                        ByteBuffer.allocate(Long.BYTES)
                                .putLong(mint.value().getLeastSignificantBits())
                                .array(),
                        StandardCharsets.ISO_8859_1);
        return new String(list, StandardCharsets.ISO_8859_1).contains(serial);
    }

    @Test
    void there_is_no_list_of_what_does_not_exist() {
        for (String path :
                List.of(
                        "/ssh/nobody/krl",
                        "/ssh/acm/krl",
                        "/x509/acme/hosts/crl",
                        "/x509/acme/tl/crl",
                        "/x509/acme/crl")) {
            assertEquals(404, get(path, "*/*").statusCode(), path);
        }
    }

    /** RFC 9110 section 8.8.2.1. At the beginning of a second, a date of the last tick is old. */
    @Test
    void the_date_of_an_answer_is_not_older_than_its_list() {
        String path = "/ssh/other/krl";
        String date =
                "(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT";
        Instant second = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
        while (Instant.now().isBefore(second)) {
            LockSupport.parkNanos(Duration.between(Instant.now(), second).toNanos());
        }
        HttpResponse<byte[]> list = get(path, "*/*");
        assertFalse(moment(header(list, "Date")).isBefore(second), () -> header(list, "Date"));
        assertFalse(moment(header(list, "Last-Modified")).isAfter(moment(header(list, "Date"))));
        assertTrue(header(list, "Date").matches(date), () -> header(list, "Date"));
        assertTrue(header(list, "Last-Modified").matches(date));
    }

    private static Instant moment(String date) {
        return Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date));
    }

    @Test
    void a_client_that_has_the_list_is_not_sent_it_again() {
        for (String path : List.of("/ssh/other/krl", "/x509/other/tls/crl")) {
            HttpResponse<byte[]> list = get(path, "*/*");
            HttpResponse<byte[]> head = ask("HEAD", path, "Accept", "*/*");
            for (String name :
                    List.of("ETag", "Last-Modified", "Content-Type", "Content-Length", "Vary")) {
                assertEquals(header(list, name), header(head, name), path);
            }
            assertEquals(200, head.statusCode());
            assertEquals(0, head.body().length);
            assertEquals(String.valueOf(list.body().length), header(head, "Content-Length"));

            String tag = header(list, "ETag");
            String made = header(list, "Last-Modified");
            assertEquals(304, ask("GET", path, "If-None-Match", tag).statusCode());
            assertEquals(304, ask("HEAD", path, "If-None-Match", "\"x\", W/" + tag).statusCode());
            assertEquals(304, ask("GET", path, "If-None-Match", "*").statusCode());
            assertEquals(304, ask("GET", path, "If-Modified-Since", made).statusCode());
            assertEquals(tag, header(ask("GET", path, "If-Modified-Since", made), "ETag"), path);
            assertEquals(200, ask("GET", path, "If-None-Match", "\"x\"").statusCode());
            assertEquals(
                    200,
                    ask("GET", path, "If-None-Match", "\"x\"", "If-Modified-Since", made)
                            .statusCode());
            assertEquals(
                    200,
                    ask("GET", path, "If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT")
                            .statusCode());
            assertEquals(200, ask("GET", path, "If-Modified-Since", "yesterday").statusCode());
        }
        assertFalse(
                header(get("/x509/other/tls/crl", "*/*"), "ETag")
                        .equals(header(get("/x509/other/tls/crl", "text/plain"), "ETag")));
        assertEquals(405, ask("POST", "/ssh/acme/krl").statusCode());
        assertEquals("GET, HEAD, OPTIONS", header(ask("POST", "/ssh/acme/krl"), "Allow"));
    }

    @Test
    void a_ca_that_has_expired_signs_no_list() {
        HttpResponse<byte[]> answer = get("/x509/acme/expired/crl", "*/*");

        assertEquals(503, answer.statusCode());
    }

    @Test
    void a_list_that_cannot_be_signed_is_503_and_names_no_file() {
        HttpResponse<byte[]> answer = get("/x509/acme/lost/crl", "*/*");
        String body = new String(answer.body(), StandardCharsets.UTF_8);

        assertEquals(503, answer.statusCode(), body);
        assertTrue(body.contains("SERVICE_UNAVAILABLE"), body);
        assertFalse(body.contains("SECRETS_DIR"), body);
    }
}
