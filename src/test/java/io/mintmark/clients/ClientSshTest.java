package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The shell client's {@code ssh}, with a program of that name which shows what it is given. */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("shells")
class ClientSshTest {
    @TempDir static Path work;

    @AutoClose private static World world;
    private final Shell shell;

    ClientSshTest(Shell shell) {
        this.shell = shell;
    }

    static Stream<Shell> shells() {
        return Shell.find("ssh-keygen").isPresent() ? Shell.tested() : Stream.empty();
    }

    @BeforeAll
    static void start() throws IOException {
        Files.createDirectories(work.resolve("secrets/acme"));
        Files.writeString(
                work.resolve("secrets/acme/ca"), Ca.of("Ed25519", Duration.ofDays(1)).key());
        Files.createDirectory(work.resolve("temporary"));
        Files.createDirectory(work.resolve("bin"));
        Path ssh = work.resolve("bin/ssh");
        Files.writeString(
                ssh,
                """
                #!/bin/sh
                echo "$1 $2 $7"
                ssh-keygen -L -f "${6#CertificateFile=}" | grep 'Key ID'
                ssh-keygen -y -f "$4" >/dev/null && exit 7
                """);
        Files.setPosixFilePermissions(ssh, PosixFilePermissions.fromString("rwxr-xr-x"));
        world = new World(Map.of("SECRETS_DIR", work.resolve("secrets").toString()));
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'web', 'hosts', 600, '{"principals": ["deploy"]}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'web');
                """);
        Eventually.holds(() ->
                world.broker().keys(world.token()).body().path("keys").toString().contains("web"));
    }

    private Ended run(String... arguments) {
        return ClientProcess.under(shell)
                .with("PATH", work.resolve("bin") + ":" + Shell.SEARCH_PATH)
                .with("TMPDIR", work.resolve("temporary").toString())
                .with("MINTMARK_URL", world.broker().url().toString())
                .with("MINTMARK_TOKEN", world.token())
                .run(arguments);
    }

    @Test
    void ssh_runs_with_a_certificate_for_a_key_that_is_gone_afterwards() throws IOException {
        Ended ended = run("ssh", "web", "--", "deploy@host");

        assertTrue(
                ended.out()
                        .matches(
                                "(?s)-o IdentitiesOnly=yes deploy@host\\n"
                                        + " *Key ID: \"mintmark:acme/web:.*"),
                ended.toString());
        assertEquals(7, ended.exit());
        try (Stream<Path> left = Files.list(work.resolve("temporary"))) {
            assertEquals(0, left.count());
        }
    }

    /** As scp, git, rsync and Ansible do, which start it. */
    @Test
    void ssh_itself_renews_the_certificate_of_the_hosts_in_its_configuration() throws Exception {
        Path home = Files.createDirectories(work.resolve("home-" + shell));
        Path config = home.resolve("config");
        Ended printed = client(home).run("ssh-config", "web", "web-*", "db");
        assertEquals(0, printed.exit(), printed.err());
        String aliases = "Host web-1 db\n    HostName 10.0.0.1\n";
        Files.writeString(config, aliases + printed.out());
        Path certificate = home.resolve(".cache/mintmark/ssh-web-cert.pub");

        assertTrue(ssh(home, config, "other").stream().noneMatch(ClientSshTest::showsCertificate));
        assertFalse(Files.exists(certificate), "a certificate for another host");

        List<String> options = ssh(home, config, "web-1");
        assertTrue(options.contains("certificatefile " + certificate), options::toString);
        assertTrue(
                options.contains("identityfile " + home.resolve(".cache/mintmark/ssh-web")),
                options::toString);
        String first = Files.readString(certificate);
        assertTrue(first.startsWith("ssh-ed25519-cert-v01@openssh.com "), first);
        assertEquals(
                "rw-------",
                PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(home.resolve(".cache/mintmark/ssh-web"))));

        assertTrue(ssh(home, config, "db").stream().anyMatch(ClientSshTest::showsCertificate));
        assertEquals(first, Files.readString(certificate), "it was renewed too early");
        Files.writeString(home.resolve(".cache/mintmark/ssh-web.until"), "1\nx\n");
        assertTrue(ssh(home, config, "db").stream().anyMatch(ClientSshTest::showsCertificate));
        assertNotEquals(first, Files.readString(certificate));
    }

    /** As a program does that logs in to many hosts; the token is that of a login. */
    @Test
    void eight_first_logins_at_once_are_one_mint() throws IOException {
        Path home = Files.createDirectories(work.resolve("eight-" + shell));
        Path state = Files.createDirectories(home.resolve(".local/state/mintmark"));
        Path token = Files.writeString(state.resolve("token"), world.token());
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        int before = world.audited("kind = 'issued'").size();
        ClientProcess client = client(home).without("MINTMARK_TOKEN");
        List<Process> eight =
                Stream.generate(() -> client.start("ssh-certificate", "web")).limit(8).toList();
        for (Process process : eight) {
            Ended ended = ClientProcess.await(process);
            assertEquals(0, ended.exit(), ended.err());
        }
        assertEquals(before + 1, world.audited("kind = 'issued'").size());
        assertTrue(Files.exists(home.resolve(".cache/mintmark/ssh-web-cert.pub")));
        assertEquals(world.token().length(), Files.readString(token).length());
    }

    private static boolean showsCertificate(String line) {
        return line.startsWith("certificatefile ");
    }

    private ClientProcess client(Path home) {
        return ClientProcess.under(shell)
                .with("HOME", home.toString())
                .with("MINTMARK_URL", world.broker().url().toString())
                .with("MINTMARK_TOKEN", world.token());
    }

    /** The options that ssh would use for a host. */
    private static List<String> ssh(Path home, Path config, String host) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("ssh", "-F", config.toString(), "-G", host);
        builder.environment().put("HOME", home.toString());
        builder.environment().remove("XDG_CACHE_HOME");
        builder.environment().put("MINTMARK_URL", world.broker().url().toString());
        builder.environment().put("MINTMARK_TOKEN", world.token());
        Ended ended = ClientProcess.await(builder.start());
        assertEquals(0, ended.exit(), ended.err());
        return ended.out().lines().toList();
    }

    @Test
    void hosts_that_could_end_a_line_of_the_configuration_are_refused() {
        for (String host : List.of("a b", "a\"", "-x", "$(x)", "a\nHost *")) {
            assertEquals(2, run("ssh-config", "web", host).exit(), host);
        }
        assertEquals(2, run("ssh-config", "web").exit());
    }

    @Test
    void a_key_of_another_type_and_a_missing_host_are_reported() {
        Ended other = run("ssh", "api", "--", "deploy@host");
        assertTrue(other.err().contains("Key 'api' has type 'jwt'"), other.toString());
        assertEquals(1, other.exit());
        Ended missing = run("ssh", "web");
        assertEquals(
                "mintmark-client: ssh needs a host: mintmark-client ssh KEY -- USER@HOST\n",
                missing.err());
        assertEquals(2, missing.exit());
    }
}
