package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Processor;
import io.mintmark.provider.OfferedKeys;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** {@code POST /sign/{key}}, and keys of types ssh and x509 through a whole broker. */
class SignEndpointTest {
    /** As in RFC 8709 section 4: a name and 32 bytes. */
    private static final String LINE =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJfkNV4OS33ImTXvorZr72q4v5XhVEQKfvqsxOEJ/XaR"
                    + " me@host";

    /** Of an application "ssh:", with the key of the line. */
    private static final String SECURITY_KEY =
            OfferedKeys.line(
                    "sk-ssh-ed25519@openssh.com",
                    OfferedKeys.strings(
                            "sk-ssh-ed25519@openssh.com".getBytes(StandardCharsets.US_ASCII),
                            Arrays.copyOfRange(
                                    Base64.getDecoder().decode(LINE.split(" ", -1)[1]), 19, 51),
                            "ssh:".getBytes(StandardCharsets.US_ASCII)));

    private static String caPublicKey;

    private static final int MALFORMED = Integer.getInteger("hostile.keys", 500);

    /** Of CPU. */
    private static final Duration SLOW = Duration.ofMillis(50);

    /** Other threads of the process may be busy. */
    private static final int TRIES = 5;

    @TempDir static Path secrets;

    @AutoClose private static World world;

    @BeforeAll
    static void start() throws IOException {
        Ca ca = Ca.of("EC", Duration.ofDays(1));
        world = new World(Map.of("SECRETS_DIR", secrets.toString(), "RATE_LIMIT_ENABLED", "false"));
        Files.createDirectory(secrets.resolve("acme"));
        Files.writeString(secrets.resolve("acme/ca"), ca.key());
        caPublicKey = ca.publicKey();
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
                VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}', '{deploy}'),
                       ('acme', 'tls', 'x509', '{"ca_key": {"file": "ca"}, "ca_certificate": %s}', '{**}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'web', 'hosts', 600, '{"principals": ["deploy"]}'),
                       ('acme', 'own', 'hosts', 600, '{"principals": ["deploy"], "caller_key": "refused"}'),
                       ('acme', 'hardware', 'hosts', 600, '{"principals": ["deploy"], "caller_key": "required"}'),
                       ('acme', 'db', 'tls', 600, '{"subject": "/CN={key}"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', '%s', unnest('{web,own,hardware,db}'::text[]);
                """
                        .formatted(
                                new ObjectMapper().valueToTree(ca.certificate()), World.SUBJECT));
        Eventually.holds(() ->
                world.broker().keys(world.token()).body().path("keys").toString().contains("web"));
    }

    @Test
    void a_minted_certificate_is_on_record() {
        Answer answer = world.broker().mint(world.token(), "web", "db");

        assertEquals(200, answer.status(), answer.toString());
        assertTrue(
                answer.at("/credentials/web/SSH_PRIVATE_KEY")
                        .startsWith("-----BEGIN OPENSSH PRIVATE KEY-----\n"));
        String certificate = answer.at("/credentials/web/SSH_CERTIFICATE");
        String mint = certificate.substring(certificate.lastIndexOf(':') + 1);
        assertEquals(
                List.of("requested web", "issued web"), world.audited("mint_id = '" + mint + "'"));
        assertTrue(
                answer.at("/credentials/db/TLS_PRIVATE_KEY")
                        .startsWith("-----BEGIN PRIVATE KEY-----"));
    }

    @Test
    void a_clients_key_is_certified_and_no_private_key_is_returned() {
        Answer answer = sign("web", LINE, "*/*");

        assertEquals(200, answer.status(), answer.toString());
        String certificate = answer.at("/credentials/web/certificate");
        assertTrue(certificate.startsWith("ssh-ed25519-cert-v01@openssh.com "), certificate);
        assertEquals(
                answer.at("/credentials/web/keyId"),
                certificate.substring(certificate.lastIndexOf(' ') + 1));
        assertFalse(answer.response().body().contains("PRIVATE"));
        assertEquals(200, sign("hardware", LINE, "*/*").status());
    }

    @Test
    void the_certificate_alone_is_text() throws NoSuchAlgorithmException {
        String pem =
                "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
                        .formatted(
                                Base64.getEncoder()
                                        .encodeToString(
                                                KeyPairGenerator.getInstance("Ed25519")
                                                        .generateKeyPair()
                                                        .getPublic()
                                                        .getEncoded()));

        Answer answer = sign("db", pem, "text/plain");

        assertEquals(200, answer.status(), answer.toString());
        assertTrue(answer.response().body().startsWith("-----BEGIN CERTIFICATE-----\n"));
        assertTrue(answer.response().body().endsWith("-----END CERTIFICATE-----\n"));
        assertEquals(
                "no-store", answer.response().headers().firstValue("Cache-Control").orElse(""));
    }

    @Test
    void a_key_says_whether_it_certifies_clients_keys() {
        refused(sign("own", LINE, "*/*"), "has caller_key 'refused'; use POST /credentials/mint");
        refused(
                world.broker().mint(world.token(), "hardware"),
                "has caller_key 'required'; use POST /sign/hardware");
        assertEquals(
                List.of(),
                world.audited("key IN ('own') OR key = 'hardware' AND user_agent IS NULL"));
    }

    @Test
    void a_key_that_can_not_be_certified_is_the_clients_mistake() {
        for (String key : List.of("web", "db")) {
            refused(sign(key, caPublicKey, "*/*"), "The key is the certificate authority's own");
            refused(
                    sign(key, caPublicKey + caPublicKey, "*/*"),
                    "The key is followed by another PEM block");
        }
        refused(
                sign("db", SECURITY_KEY, "*/*"),
                "The key is on a security key, which TLS doesn't support");
        assertEquals(200, sign("web", SECURITY_KEY, "*/*").status());
        assertEquals(List.of(), world.audited("kind = 'failed'"));
    }

    @Test
    void what_is_no_key_is_refused_before_anything_is_on_record() {
        refused(sign("web", "ssh-rsa AAAA", "*/*"), "must be an OpenSSH public key line");
        refused(sign("web", "", "text/plain"), "must be an OpenSSH public key line");
        refused(sign("api", LINE, "*/*"), "this endpoint returns credentials of ssh, x509 only");
        refused(sign("-", LINE, "*/*"), "The path must end in the name of a key");
        assertEquals(403, sign("spare", LINE, "*/*").status());
        Answer answer =
                world.broker()
                        .send(
                                HttpRequest.newBuilder(world.broker().url().resolve("/sign/web"))
                                        .POST(BodyPublishers.ofString(LINE)));
        assertEquals(401, answer.status());
    }

    @Test
    void malformed_keys_are_certified_or_refused_at_once() throws Exception {
        List<String> problems = new ArrayList<>();
        for (String key : OfferedKeys.malformed(MALFORMED, 37)) {
            for (String name : List.of("web", "db")) {
                Duration taken = Duration.ofDays(1);
                for (int i = 0; i < TRIES && taken.compareTo(SLOW) > 0; i++) {
                    Duration before = Processor.used();
                    Answer answer = sign(name, key, "*/*");
                    taken = Processor.used().minus(before);
                    if (answer.status() != 200 && answer.status() != 400) {
                        problems.add(answer + " to " + key);
                    }
                }
                if (taken.compareTo(SLOW) > 0) {
                    problems.add(taken + " for " + key);
                }
            }
        }
        assertEquals(List.of(), problems);
    }

    private static void refused(Answer answer, String reason) {
        assertEquals(400, answer.status(), answer.toString());
        assertTrue(answer.at("/details/reason").contains(reason), answer.toString());
    }

    private static Answer sign(String key, String publicKey, String accept) {
        return world.broker()
                .send(
                        HttpRequest.newBuilder(world.broker().url().resolve("/sign/" + key))
                                .header("Authorization", "Bearer " + world.token())
                                .header("Accept", accept)
                                .POST(BodyPublishers.ofString(publicKey)));
    }
}
