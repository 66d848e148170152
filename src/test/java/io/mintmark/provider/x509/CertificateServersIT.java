package io.mintmark.provider.x509;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.ReservedPorts;
import io.mintmark.Unchecked;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.tenant.MintId;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;

/**
 * What PostgreSQL, nginx and openssl make of the broker's certificates; see docs/providers/x509.md.
 */
class CertificateServersIT {
    private static final Ca CA = Ca.of("EC", Duration.ofDays(1));

    private static final String SETTINGS = settings(CA, "ca");
    private static final MintId OTHER =
            new MintId(UUID.fromString("01980f5e-8a00-7000-8000-0123456789ff"));

    @AutoClose private static MintingBroker broker;
    private static Path work;
    @AutoClose private static EmbeddedPostgres postgres;

    private record Ran(int status, String said) {}

    private static String settings(Ca ca, String key) {
        return new ObjectMapper()
                .valueToTree(
                        Map.of(
                                "ca_certificate", ca.certificate(),
                                "ca_key", Map.of("file", key),
                                "trust_domain", "acme.example"))
                .toString();
    }

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        work = directory;
        Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwxr-xr-x"));
        broker = MintingBroker.usual();
        broker.secret("ca", CA.key());
        Files.writeString(work.resolve("ca.crt"), CA.certificate());
        Files.writeString(work.resolve("trusted.crt"), CA.certificate());
        write(
                "server",
                minted(
                        "'subject':'/CN=localhost','usage':['server'],'dns_names':['localhost']",
                        3600));
        Files.writeString(
                work.resolve("hba"),
                """
                host all postgres 127.0.0.1/32 trust
                host all postgres ::1/128 trust
                hostssl all app 127.0.0.1/32 cert map=mm
                """);
        Files.writeString(work.resolve("ident"), "mm \"/^app[.]\" app\n");
        postgres =
                EmbeddedServer.start(
                        EmbeddedServer.builder()
                                .setServerConfig("ssl", "on")
                                .setServerConfig("ssl_ca_file", file("trusted.crt"))
                                .setServerConfig("ssl_cert_file", file("server.crt"))
                                .setServerConfig("ssl_key_file", file("server.key"))
                                .setServerConfig("hba_file", file("hba"))
                                .setServerConfig("ident_file", file("ident")),
                        work.resolve("data"));
        admin("CREATE ROLE app LOGIN");
    }

    @Test
    void postgresql_lets_a_certificate_in_and_shows_the_mint() throws Exception {
        Minted minted = minted("'subject':'/O=acme/CN=app.{mint_id}'", 3600);

        Ran ran =
                psql(minted, "SELECT client_serial FROM pg_stat_ssl WHERE pid = pg_backend_pid()");

        assertEquals(Orders.MINT_ID.number() + "\n", ran.said());
    }

    @Test
    void postgresql_refuses_another_subject() throws Exception {
        Ran ran = psql(minted("'subject':'/O=acme/CN=other'", 3600), "SELECT 1");

        assertTrue(ran.said().contains("certificate authentication failed"), ran.said());
    }

    @Test
    void postgresql_refuses_a_certificate_after_its_end() throws Exception {
        Minted minted = minted("'subject':'/CN=app.x'", 1);
        Eventually.holds(() -> Instant.now().isAfter(minted.expiresAt()));

        Ran ran = psql(minted, "SELECT 1");

        assertTrue(ran.said().contains("certificate expired"), ran.said());
    }

    @Test
    void a_session_is_ended_by_the_serial_that_the_command_prints() throws Exception {
        Minted minted = minted("'subject':'/CN=app.x'", 3600);
        write("session", minted);
        Process session = psqlProcess("session", "SELECT pg_sleep(600)").start();
        String serial = Orders.MINT_ID.number().toString();
        Eventually.holds(() -> ended(serial) > 0);

        assertEquals(2, session.waitFor());
    }

    private static int ended(String serial) {
        return Integer.parseInt(
                admin(
                        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_ssl WHERE client_serial IN (%s)"
                                .formatted(serial)));
    }

    @Test
    void nginx_lets_a_certificate_in_and_shows_the_mint() throws Exception {
        int port = ReservedPorts.next();
        Files.writeString(
                work.resolve("nginx.conf"),
                """
                daemon off; pid %1$s/nginx.pid; error_log stderr; events {}
                http {
                  access_log off;
                  client_body_temp_path %1$s; proxy_temp_path %1$s; fastcgi_temp_path %1$s;
                  uwsgi_temp_path %1$s; scgi_temp_path %1$s;
                  server {
                    listen 127.0.0.1:%2$d ssl;
                    ssl_certificate %1$s/server.crt; ssl_certificate_key %1$s/server.key;
                    ssl_client_certificate %1$s/ca.crt; ssl_verify_client on; ssl_crl %1$s/acme.crl;
                    location / { return 200 "$ssl_client_s_dn $ssl_client_serial"; }
                  }
                }
                """
                        .formatted(work, port));
        fetched(OTHER);
        Process nginx =
                nginx().redirectErrorStream(true)
                        .redirectOutput(work.resolve("nginx.log").toFile())
                        .start();
        try {
            write("web", minted("'subject':'/O=acme/CN={key}'", 3600));
            String url = "https://localhost:%d/".formatted(port);
            Eventually.holds(() -> answers(port));

            assertEquals(
                    "CN=deploy,O=acme 0"
                            + Orders.MINT_ID.number().toString(16).toUpperCase(Locale.ROOT),
                    curl("web", url).said());
            fetched(OTHER, Orders.MINT_ID);
            assertEquals(0, run(nginx("-s", "reload")).status());
            Eventually.holds(() -> says("400 The SSL certificate error", () -> curl("web", url)));
            Minted short1 = minted("'subject':'/CN=x'", 1);
            write("ended", short1);
            Eventually.holds(() -> Instant.now().isAfter(short1.expiresAt()));
            assertTrue(curl("ended", url).said().contains("400 The SSL certificate error"));
        } finally {
            nginx.destroy();
            nginx.waitFor();
        }
    }

    private static boolean says(String words, Callable<Ran> command) {
        return Unchecked.call(() -> command.call().said().contains(words));
    }

    private static ProcessBuilder nginx(String... more) {
        List<String> line = new ArrayList<>(List.of("/usr/sbin/nginx", "-c", file("nginx.conf")));
        line.addAll(List.of(more));
        return new ProcessBuilder(line);
    }

    private static boolean answers(int port) {
        try (Socket connected = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return connected.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private static Ran curl(String name, String url) throws Exception {
        return run(
                new ProcessBuilder(
                        "curl",
                        "-s",
                        "--cacert",
                        file("ca.crt"),
                        "--cert",
                        file(name + ".crt"),
                        "--key",
                        file(name + ".key"),
                        url));
    }

    @Test
    void openssl_verifies_it_for_its_purpose_only() throws Exception {
        write("client", minted("'subject':'/CN=x','uri':'spiffe://acme.example/x'", 3600));

        assertEquals(0, verify("sslclient").status());
        assertEquals(2, verify("sslserver").status());
        Ran text =
                run(
                        new ProcessBuilder(
                                "openssl", "x509", "-noout", "-text", "-in", file("client.crt")));
        assertTrue(text.said().contains("CA:FALSE"), text.said());
        assertTrue(text.said().contains("URI:spiffe://acme.example/x"), text.said());
    }

    private static Ran verify(String purpose, String... more) throws Exception {
        List<String> line = new ArrayList<>(List.of("openssl", "verify", "-x509_strict"));
        line.addAll(List.of(more));
        line.addAll(List.of("-purpose", purpose, "-CAfile", file("ca.crt"), file("client.crt")));
        return run(new ProcessBuilder(line));
    }

    private static Minted minted(String settings, long seconds) {
        return broker.minted(
                Orders.of("x509", SETTINGS, "{" + settings + "}")
                        .lasting(Duration.ofSeconds(seconds)));
    }

    /** In PEM, as the page's cron line fetches it. */
    private static void fetched(MintId... ended) throws IOException {
        Files.writeString(
                work.resolve("acme.crl"),
                CertificateAuthority.pem(
                        "X509 CRL", broker.revocationList("x509", SETTINGS, ended)));
    }

    /** No server is started anew for it. */
    @Test
    void postgresql_refuses_an_ended_certificate_and_no_other() throws Exception {
        Minted minted = minted("'subject':'/CN=app.x'", 3600);
        fetched(OTHER);
        admin("ALTER SYSTEM SET ssl_crl_file = '%s'".formatted(file("acme.crl")));
        admin("SELECT pg_reload_conf()");
        try {
            Eventually.holds(() -> says("acme.crl", () -> psql(minted, "SHOW ssl_crl_file")));
            fetched(OTHER, Orders.MINT_ID);
            admin("SELECT pg_reload_conf()");
            Eventually.holds(() -> says("certificate revoked", () -> psql(minted, "SELECT 1")));
        } finally {
            admin("ALTER SYSTEM RESET ssl_crl_file");
            admin("SELECT pg_reload_conf()");
            Eventually.holds(() -> says("1\n", () -> psql(minted, "SELECT 1")));
        }
    }

    @Test
    void openssl_verifies_the_list_and_refuses_what_is_on_it() throws Exception {
        write("client", minted("'subject':'/CN=x'", 3600));
        fetched(OTHER);
        Ran verified =
                run(
                        new ProcessBuilder(
                                "openssl",
                                "crl",
                                "-noout",
                                "-in",
                                file("acme.crl"),
                                "-CAfile",
                                file("ca.crt")));
        assertTrue(verified.said().contains("verify OK"), verified.said());
        assertEquals(0, verify("sslclient", "-crl_check", "-CRLfile", file("acme.crl")).status());
        fetched(OTHER, Orders.MINT_ID);
        Ran refused = verify("sslclient", "-crl_check", "-CRLfile", file("acme.crl"));
        assertTrue(refused.said().contains("certificate revoked"), refused.said());
    }

    /** As the page's section about rotation says. */
    @Test
    void while_both_cas_are_trusted_certificates_of_both_get_in() throws Exception {
        String old = CA.certificate();
        Ca next = Ca.of("EC", Duration.ofDays(1));
        Minted before = minted("'subject':'/CN=app.x'", 3600);
        broker.secret("next", next.key());
        Minted after =
                broker.minted(
                        Orders.of("x509", settings(next, "next"), "{'subject':'/CN=app.x'}")
                                .lasting(Duration.ofHours(1)));
        try {
            Eventually.holds(() -> says("unknown ca", () -> psql(after, "SELECT 1")));

            trusted(old + next.certificate());
            Eventually.holds(() -> says("1\n", () -> psql(after, "SELECT 1")));
            assertEquals("1\n", psql(before, "SELECT 1").said());

            trusted(next.certificate());
            Eventually.holds(() -> says("unknown ca", () -> psql(before, "SELECT 1")));
        } finally {
            trusted(old);
            Eventually.holds(() -> says("1\n", () -> psql(before, "SELECT 1")));
        }
    }

    /** By PostgreSQL; its own certificate is still the old CA's. */
    private static void trusted(String cas) throws IOException {
        Files.writeString(work.resolve("trusted.crt"), cas);
        admin("SELECT pg_reload_conf()");
    }

    private static void write(String name, Minted minted) throws Exception {
        Files.writeString(work.resolve(name + ".crt"), MintingBroker.field(minted, "Certificate"));
        Path key = work.resolve(name + ".key");
        Files.writeString(key, MintingBroker.field(minted, "PrivateKey"));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    }

    private static Ran psql(Minted minted, String sql) throws Exception {
        write("psql", minted);
        return run(psqlProcess("psql", sql));
    }

    private static ProcessBuilder psqlProcess(String name, String sql) {
        ProcessBuilder psql =
                new ProcessBuilder(
                        "psql",
                        "host=localhost hostaddr=127.0.0.1 port=%d dbname=postgres user=app sslmode=verify-full sslrootcert=%s sslcert=%s sslkey=%s"
                                .formatted(
                                        postgres.getPort(),
                                        file("ca.crt"),
                                        file(name + ".crt"),
                                        file(name + ".key")),
                        "-X",
                        "-Atc",
                        sql);
        psql.redirectErrorStream(true);
        return psql;
    }

    private static Ran run(ProcessBuilder command) throws IOException, InterruptedException {
        Process process = command.redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ran(process.waitFor(), said);
    }

    private static String admin(String sql) {
        try (Connection connection =
                        DriverManager.getConnection(
                                "jdbc:postgresql://127.0.0.1:%d/postgres"
                                        .formatted(postgres.getPort()),
                                "postgres",
                                "");
                Statement statement = connection.createStatement()) {
            if (!statement.execute(sql)) {
                return "";
            }
            try (ResultSet rows = statement.getResultSet()) {
                rows.next();
                return rows.getString(1);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private static String file(String name) {
        return work.resolve(name).toString();
    }
}
