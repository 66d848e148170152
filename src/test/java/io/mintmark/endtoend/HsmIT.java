package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jose.jwk.AsymmetricJWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.admin.cli.Commands;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.SignedNote;
import io.mintmark.base.config.Pkcs11Uri;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.pkcs11.Pkcs11Module;
import io.mintmark.base.pkcs11.SoftHsm;
import io.mintmark.base.pkcs11.TokenKey;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.start.StartFailed;
import io.mintmark.provider.githubapp.GitHubStandIn;

import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A broker none of whose keys lies in a file, with Debian's SoftHSM as its token. */
class HsmIT {
    private final SoftHsm hsm = SoftHsm.token();

    @TempDir private Path directory;

    private Map<String, String> settings(String signing, String audit) {
        Map<String, String> settings = new HashMap<>(hsm.settings());
        settings.put("BROKER_SIGNING_KEYS_DIR", "");
        settings.put("BROKER_SIGNING_KEYS", signing);
        settings.put("AUDIT_SIGNING_KEY_FILE", "");
        settings.put("AUDIT_SIGNING_KEYS", audit);
        return settings;
    }

    /** A key's public half; the module stays open, since the key may go on signing. */
    private TokenKey key(String uri) {
        return Pkcs11Module.open(
                        new SettingsReader(hsm.settings(), directory).pkcs11().orElseThrow())
                .key(Pkcs11Uri.parse(uri));
    }

    @Test
    void the_last_key_signs_tokens_and_the_others_are_published() throws Exception {
        String former = hsm.rsa("broker-former");
        String current = hsm.p256("broker-current");
        try (World world =
                new World(settings(former + "," + current, hsm.p256("audit-of-tokens")))) {
            JWKSet published =
                    JWKSet.parse(world.broker().get("/.well-known/jwks.json").response().body());
            assertEquals(
                    Set.of("ES256", "RS256"),
                    published.getKeys().stream()
                            .map(key -> key.getAlgorithm().getName())
                            .collect(Collectors.toSet()));
            Answer answer = world.broker().mint(world.token(), "api", "deploy");
            assertEquals(200, answer.status(), answer.toString());
            SignedJWT token = SignedJWT.parse(jwt(answer.toString()));
            assertEquals(
                    key(current).publicKey(),
                    ((AsymmetricJWK) published.getKeyByKeyId(token.getHeader().getKeyID()))
                            .toPublicKey());
        }
    }

    /** The settings and commands of docs/run/pkcs11.md. */
    @Test
    void the_page_makes_a_key_that_signs_and_gives_auditors_the_public_half() throws Exception {
        List<String> blocks = Documented.blocks("run/pkcs11.md", "sh");
        assertEquals(3, blocks.size());
        hsm.p256("audit-2026-12");
        hsm.run(blocks.get(1), directory);
        Map<String, String> page = new HashMap<>();
        blocks.get(0)
                .lines()
                .map(line -> line.split("=", 2))
                .forEach(each -> page.put(each[0], each[1]));
        assertEquals(
                Set.of(
                        "PKCS11_MODULE",
                        "PKCS11_PIN_FILE",
                        "BROKER_SIGNING_KEYS",
                        "AUDIT_SIGNING_KEYS"),
                page.keySet());
        try (World world =
                new World(
                        settings(
                                requireNonNull(page.get("BROKER_SIGNING_KEYS")),
                                requireNonNull(page.get("AUDIT_SIGNING_KEYS"))))) {
            Answer answer = world.broker().mint(world.token(), "api");
            assertEquals(200, answer.status(), answer.toString());
        }
        hsm.run(blocks.get(2), directory);
        assertEquals(
                pem(
                                "PUBLIC KEY",
                                key(requireNonNull(page.get("AUDIT_SIGNING_KEYS")))
                                        .publicKey()
                                        .getEncoded())
                        .strip(),
                Files.readString(directory.resolve("audit.pub")).strip());
    }

    private static String jwt(String answer) {
        return Pattern.compile("eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]+")
                .matcher(answer)
                .results()
                .findFirst()
                .orElseThrow()
                .group();
    }

    @Test
    void the_log_is_sealed_with_it_and_a_key_of_a_file_announces_it() throws Exception {
        String uri = hsm.p256("audit");
        Path published = directory.resolve("audit.pub");
        Files.writeString(published, pem("PUBLIC KEY", key(uri).publicKey().getEncoded()));
        try (TestDatabase database = TestDatabase.migrated()) {
            try (var _ = RunningBroker.on(database)) {
                Eventually.holds(() -> checkpoints(database) > 0);
            }
            // without the key of the file, the log could not be continued
            Map<String, String> alone = settings(hsm.p256("broker-of-audit"), uri);
            String refused =
                    String.valueOf(
                            assertThrows(
                                            StartFailed.class,
                                            () -> RunningBroker.on(database, alone).close())
                                    .getMessage());
            assertTrue(refused.startsWith("AUDIT_SIGNING_KEYS doesn't contain the key"), refused);
            Map<String, String> both = new HashMap<>(alone);
            both.remove("AUDIT_SIGNING_KEY_FILE");
            int before = checkpoints(database);
            try (var _ = RunningBroker.on(database, both)) {
                Eventually.holds(() -> checkpoints(database) > before);
            }
            Map<String, String> environment = new HashMap<>(RunningBroker.environment(database, 1));
            environment.putAll(both);
            environment.put("DATABASE_USERNAME", Who.AUDITOR.login());
            assertEquals(0, new Commands(environment, directory).execute("audit", "verify"));
        }
    }

    @Test
    void notes_for_witnesses_are_signed_with_it() throws Exception {
        String uri = hsm.ed25519("notes");
        Map<String, String> settings =
                settings(hsm.p256("broker-of-notes"), hsm.p256("audit-of-notes"));
        settings.put("AUDIT_NOTE_KEY", uri);
        settings.put("BROKER_ISSUER", "https://log.example");
        try (TestDatabase database = TestDatabase.migrated()) {
            try (var _ = RunningBroker.on(database, settings)) {
                Eventually.holds(() -> checkpoints(database) > 0);
            }
            try (Pkcs11Module module =
                    Pkcs11Module.open(
                            new SettingsReader(hsm.settings(), directory).pkcs11().orElseThrow())) {
                NoteKey key =
                        NoteKey.of(
                                "log.example/audit/1",
                                NoteKey.Type.NOTE,
                                module.ed25519(Pkcs11Uri.parse(uri)).publicKey());
                String note =
                        database.value("SELECT note FROM audit.checkpoint ORDER BY number LIMIT 1");
                assertTrue(SignedNote.parse(note).isSignedBy(key), note);
            }
            assertEquals(0, check(database, settings));
            settings.put("AUDIT_NOTE_KEY", hsm.p256("no-notes"));
            String refused =
                    String.valueOf(
                            assertThrows(
                                            StartFailed.class,
                                            () -> RunningBroker.on(database, settings).close())
                                    .getMessage());
            assertTrue(refused.startsWith("AUDIT_NOTE_KEY: pkcs11:"), refused);
            assertTrue(refused.endsWith("must be an Ed25519 key"), refused);
            assertEquals(1, check(database, settings));
        }
    }

    private int check(TestDatabase database, Map<String, String> settings) {
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(database, RunningBroker.freePort()));
        environment.putAll(settings);
        return new Commands(environment, directory).execute("check");
    }

    private static int checkpoints(TestDatabase database) {
        return database.column("SELECT number FROM audit.checkpoint").size();
    }

    @Test
    void a_tenants_ca_key_in_the_token_signs_certificates() throws Exception {
        String uri = hsm.p256("acme/tls");
        hsm.rsa("acme/ssh");
        String ca = pem("CERTIFICATE", authority(key(uri)).getEncoded());
        try (World world = new World(settings(hsm.p256("broker-ca"), hsm.p256("audit-ca")))) {
            world.admin(
                    """
                    INSERT INTO broker.access_provider (tenant, name, type, settings)
                    VALUES ('acme', 'tls', 'x509', jsonb_build_object(
                                'ca_key', '{"pkcs11": "object=acme/tls"}'::jsonb, 'ca_certificate', '%s')),
                           ('acme', 'hosts', 'ssh', '{"ca_key": {"pkcs11": "object=acme%%2Fssh"}}');
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                    VALUES ('acme', 'web', 'tls', 600, '{"subject": "/CN=web"}'),
                           ('acme', 'login', 'hosts', 600, '{"principals": ["deploy"]}');
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                    VALUES ('acme', 'ci', 'ci:main', 'web'), ('acme', 'ci', 'ci:main', 'login');
                    """
                            .formatted(ca));
            Answer answer = world.broker().mint(world.token(), "web", "login");
            assertEquals(200, answer.status(), answer.toString());
            String text = new ObjectMapper().readTree(answer.response().body()).toString();
            X509Certificate leaf =
                    certificate(
                            text.substring(text.indexOf("-----BEGIN CERTIFICATE-----"))
                                    .replace("\\n", "\n"));
            leaf.verify(key(uri).publicKey());
            Path file = directory.resolve("login-cert.pub");
            int at = text.indexOf("ssh-ed25519-cert-v01@openssh.com");
            Files.writeString(file, text.substring(at, text.indexOf('"', at)));
            String shown = run("ssh-keygen", "-L", "-f", file.toString());
            assertTrue(shown.contains("using rsa-sha2-512"), shown);
        }
    }

    @Test
    void a_github_apps_key_in_the_token_signs_its_assertions() {
        String uri = hsm.rsa("acme/app");
        hsm.p256("acme/unfit");
        try (GitHubStandIn github = new GitHubStandIn((RSAPublicKey) key(uri).publicKey(), "");
                World world = new World(settings(hsm.p256("broker-app"), hsm.p256("audit-app")))) {
            for (String name : List.of("app", "unfit")) {
                world.admin(
                        """
                        INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
                        VALUES ('acme', '%1$s', 'github-app',
                                '{"client_id": "%2$s", "private_key": {"pkcs11": "object=acme%%2F%1$s"},
                                  "installation_id": "%3$s", "api_url": "%4$s"}',
                                '{repository:*,permission:contents:*}');
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        VALUES ('acme', 'shop-%1$s', '%1$s', 3600,
                                '{"repositories": ["shop"], "permissions": {"contents": "read"}}');
                        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                        VALUES ('acme', 'ci', 'ci:main', 'shop-%1$s');
                        """
                                .formatted(
                                        name,
                                        GitHubStandIn.CLIENT_ID,
                                        GitHubStandIn.INSTALLATION,
                                        github.url()));
            }
            Answer answer = world.broker().mint(world.token(), "shop-app");
            assertEquals(200, answer.status(), answer.toString());
            String token = answer.at("/credentials/shop-app/GITHUB_TOKEN");
            assertTrue(github.live().contains(token), github.live()::toString);
            assertEquals(
                    "500 CREDENTIAL_MINT_FAILED provider_misconfigured",
                    world.broker().mint(world.token(), "shop-unfit").verdict());
            assertTrue(
                    world.value("SELECT detail FROM audit.event WHERE kind = 'failed'")
                            .contains("isn't an RSA key"));
        }
    }

    @Test
    void a_token_that_is_removed_fails_health_and_mints_by_its_name() throws Exception {
        String uri = hsm.p256("broker-removed");
        try (World world = new World(settings(uri, hsm.p256("audit-removed")))) {
            assertEquals(200, world.broker().mint(world.token(), "api").status());
            try (var _ = hsm.removed()) {
                assertEquals(
                        "500 CREDENTIAL_MINT_FAILED provider_unreachable",
                        world.broker().mint(world.token(), "api").verdict());
                assertTrue(
                        world.value("SELECT detail FROM audit.event WHERE kind = 'failed' LIMIT 1")
                                .contains("mintmark"));
                Eventually.holds(() ->
                        "unhealthy".equals(world.broker().get("/health").at("/checks/broker_idp")));
            }
            Eventually.holds(() -> world.broker().mint(world.token(), "api").status() == 200);
            Eventually.holds(() -> world.broker().get("/health").status() == 200);
        }
    }

    @Test
    void a_broker_whose_key_is_missing_does_not_start() {
        try (TestDatabase database = TestDatabase.migrated()) {
            Map<String, String> settings =
                    settings("pkcs11:object=nowhere", hsm.p256("audit-missing"));
            assertEquals(
                    "BROKER_SIGNING_KEYS: pkcs11:object=nowhere: the PKCS#11 token has no such"
                            + " private key",
                    assertThrows(
                                    StartFailed.class,
                                    () -> RunningBroker.on(database, settings).close())
                            .getMessage());
        }
    }

    private static X509Certificate authority(TokenKey key) throws Exception {
        Instant now = Instant.now();
        X500Name name = new X500Name("CN=acme CA");
        return certificate(
                pem(
                        "CERTIFICATE",
                        new JcaX509v3CertificateBuilder(
                                        name,
                                        BigInteger.ONE,
                                        Date.from(now.minus(Duration.ofHours(1))),
                                        Date.from(now.plus(Duration.ofDays(1))),
                                        name,
                                        key.publicKey())
                                .addExtension(
                                        Extension.basicConstraints,
                                        true,
                                        new BasicConstraints(true))
                                .build(new JcaContentSignerBuilder("SHA256withECDSA").build(key))
                                .getEncoded()));
    }

    private static X509Certificate certificate(String pem) throws Exception {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509")
                        .generateCertificate(
                                new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
    }

    private static String pem(String label, byte[] content) {
        return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
                .formatted(
                        label,
                        Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content));
    }

    private static String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), List.of(command) + output);
        return output;
    }
}
