package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Authority;
import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.LoginWorld;
import io.mintmark.endtoend.World;
import io.mintmark.provider.azure.EntraStandIn;
import io.mintmark.provider.gcp.GoogleStandIn;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Clients' own libraries against a broker, in the versions that {@code src/test/libraries} pins.
 * {@code .ci/libraries} installs them below {@code target/libraries}. Each program there checks
 * what its library gets, and ends with status 0 if all of it is right.
 */
class LibrariesIT {
    private static final Path INSTALLED = Path.of("target", "libraries").toAbsolutePath();

    private static final Path DOCUMENTS = Path.of("docs").toAbsolutePath();

    @TempDir private static Path directory;
    @AutoClose private static LoginWorld logins;
    private static World world;
    @AutoClose private static GoogleStandIn google;
    @AutoClose private static EntraStandIn entra;

    @BeforeAll
    static void start() {
        logins = new LoginWorld(directory);
        world = logins.broker();
        google =
                GoogleStandIn.trusting(world.broker().url().toString(), world.broker()::keySet)
                        .binding("tenant:acme:key:cloud", GoogleStandIn.ACCOUNT);
        entra =
                new EntraStandIn(
                        world.broker().url().toString(),
                        world.broker()::keySet,
                        "tenant:acme:key:entra");
        world.admin(google.accessProvider());
        world.admin(
                "UPDATE broker.key SET resource = 'https://mcp.example.com/orders' WHERE name = 'api'");
        world.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'cloud', 'google', 1800, '{"service_account": "%1$s"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'cloud');
                """
                        .formatted(GoogleStandIn.ACCOUNT));
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
                VALUES ('acme', 'entra', 'azure', '{"tenant_id": "%1$s", "authority": "%2$s"}', '{%3$s}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings, resource)
                VALUES ('acme', 'entra', 'entra', 5400,
                        '{"client_id": "%3$s", "scope": "https://management.azure.com/.default"}',
                        'https://management.azure.com');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'entra');
                INSERT INTO broker.access_rule
                       (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'spare', 'ci', 'ci:main', 'exact', 1, 3600, false);
                INSERT INTO broker.access_approver (rule, role_name)
                SELECT id, 'test_admin' FROM broker.access_rule;
                """
                        .formatted(
                                EntraStandIn.DIRECTORY,
                                entra.authority(),
                                EntraStandIn.APPLICATION));
    }

    /** The command of each program that is installed. */
    static Stream<List<String>> programs() throws IOException {
        List<List<String>> programs = new ArrayList<>();
        for (Path script : files("python", ".py")) {
            programs.add(List.of(python("venv"), script.toString()));
        }
        for (Path script : files("lakes", ".py")) {
            programs.add(List.of(python("lakes/venv"), script.toString()));
        }
        for (Path script : files("node", ".mjs")) {
            programs.add(List.of("node", script.toString()));
        }
        for (String language : List.of("go", "operator", "rust")) {
            for (Path program : files(language, ".program")) {
                programs.add(List.of(program.toString()));
            }
        }
        for (Path source : files("java", ".java")) {
            programs.add(
                    List.of(
                            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                            "--class-path",
                            source.resolveSibling("libs") + "/*",
                            source.toString()));
        }
        return programs.stream();
    }

    private static String python(String environment) {
        return INSTALLED.resolve(environment).resolve("bin/python").toString();
    }

    private static List<Path> files(String language, String suffix) throws IOException {
        Path directory = INSTALLED.resolve(language);
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void a_library_gets_credentials_and_shows_refusals(List<String> command) throws IOException {
        run(command, world.broker().url().toString(), Map.of());
    }

    @Test
    void boto3_and_the_aws_cli_trust_a_private_authority_at_the_sts_endpoint() throws Exception {
        Path script = INSTALLED.resolve("python/sts.py");
        Assumptions.assumeTrue(Files.exists(script));
        Authority authority = new Authority();
        Path bundle = Files.writeString(directory.resolve("ca.pem"), authority.pem());
        List<String> command = List.of(python("venv"), script.toString());
        try (TlsFront front = new TlsFront(authority, world.broker().url().getPort())) {
            run(command, front.url(), Map.of("AWS_CA_BUNDLE", bundle.toString()));
        }
    }

    private static void run(List<String> command, String broker, Map<String, String> environment)
            throws IOException {
        int before = issued();
        Path token = Files.writeString(directory.resolve("token"), world.token());
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.directory(directory.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", Shell.SEARCH_PATH);
        builder.environment().put("HOME", directory.toString());
        builder.environment().put("MINTMARK_URL", broker);
        builder.environment().put("MINTMARK_CLIENT", ClientProcess.FILE.toString());
        builder.environment().put("MINTMARK_DATABASE_KEY", "orders-login");
        builder.environment().put("POSTGRES", "127.0.0.1:" + logins.target().port());
        builder.environment().put("JDBC_URL", logins.jdbcUrl());
        builder.environment().put("DOCUMENTS", DOCUMENTS.toString());
        builder.environment().putAll(environment);
        builder.environment().put("MINTMARK_TOKEN_FILE", token.toString());
        Ended ended = ClientProcess.await(builder.start());
        assertEquals(0, ended.exit(), ended.toString());
        assertTrue(ended.out().matches("(?s).*\\d+\\.\\d+.*"), "no version: " + ended);
        assertTrue(issued() > before, ended.toString());
    }

    private static int issued() {
        return world.audited("kind = 'issued'").size();
    }

    /** Terminates TLS in front of the broker. */
    private static final class TlsFront implements AutoCloseable {
        private final ServerSocket listening;
        private final int broker;

        TlsFront(Authority authority, int broker) throws Exception {
            this.listening =
                    authority
                            .server("localhost")
                            .getServerSocketFactory()
                            .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
            this.broker = broker;
            Thread.ofVirtual().start(this::accept);
        }

        String url() {
            return "https://localhost:" + listening.getLocalPort();
        }

        private void accept() {
            try {
                while (true) {
                    Socket client = listening.accept();
                    Socket server = new Socket(InetAddress.getLoopbackAddress(), broker);
                    Thread.ofVirtual().start(() -> forward(client, server));
                    Thread.ofVirtual().start(() -> forward(server, client));
                }
            } catch (IOException e) {
                // closed
            }
        }

        private static void forward(Socket from, Socket to) {
            try (from;
                    to) {
                from.getInputStream().transferTo(to.getOutputStream());
            } catch (IOException e) {
                // one side hung up
            }
        }

        @Override
        public void close() throws IOException {
            listening.close();
        }
    }
}
