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
import java.util.List;
import java.util.Map;
import java.util.UUID;

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
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}'),
                       ('acme', 'tls', 'x509', '{"ca_key": {"file": "ca"}, "ca_certificate": %1$s}'),
                       ('acme', 'lost', 'x509', '{"ca_key": {"file": "lost"}, "ca_certificate": %1$s}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'web', 'hosts', 600, '{"principals": ["deploy"]}'),
                       ('acme', 'db', 'tls', 600, '{"subject": "/CN={key}"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', '%2$s', unnest('{web,db}'::text[]);
                """
                        .formatted(
                                new ObjectMapper().valueToTree(ca.certificate()), World.SUBJECT));
        Eventually.holds(() ->
                world.broker().keys(world.token()).body().path("keys").toString().contains("web"));
    }

    private static HttpResponse<byte[]> get(String path, String accept) {
        URI url = world.broker().url().resolve(path);
        return Unchecked.call(() ->
                CLIENT.send(
                        HttpRequest.newBuilder(url).header("Accept", accept).build(),
                        BodyHandlers.ofByteArray()));
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
        assertTrue(list.getThisUpdate().toInstant().isBefore(Instant.now()));
        assertEquals(list, x509.generateCRL(new ByteArrayInputStream(pem.body())));
        assertTrue(
                new String(pem.body(), StandardCharsets.US_ASCII)
                        .startsWith("-----BEGIN X509 CRL-----\n"));
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

    @Test
    void a_list_that_cannot_be_signed_is_503_and_names_no_file() {
        HttpResponse<byte[]> answer = get("/x509/acme/lost/crl", "*/*");
        String body = new String(answer.body(), StandardCharsets.UTF_8);

        assertEquals(503, answer.statusCode(), body);
        assertTrue(body.contains("SERVICE_UNAVAILABLE"), body);
        assertFalse(body.contains("SECRETS_DIR"), body);
    }
}
