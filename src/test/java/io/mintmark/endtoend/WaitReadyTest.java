package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.check.WaitReady;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import picocli.CommandLine;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The command that a rolling upgrade waits with. */
class WaitReadyTest {
    @TempDir private Path directory;

    private record Said(int status, String text) {}

    private Said run(Map<String, String> settings, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        int status =
                new CommandLine(new WaitReady(() -> new SettingsReader(settings, directory), print))
                        .setExecutionExceptionHandler((failure, _, _) -> {
                            print.println(failure.getMessage());
                            return 1;
                        })
                        .execute(arguments);
        return new Said(status, out.toString(StandardCharsets.UTF_8).strip());
    }

    private static Map<String, String> adminPort(int port) {
        return Map.of("ADMIN_PORT", Integer.toString(port));
    }

    @Test
    void a_broker_is_ready_and_used_once_a_client_was_served() {
        try (TestDatabase database = TestDatabase.migrated();
                RunningBroker broker = RunningBroker.on(database)) {
            Map<String, String> settings = adminPort(broker.adminPort());
            assertEquals(new Said(0, "ready"), run(settings));
            broker.get("/credentials/idp-providers");

            assertEquals(
                    new Said(
                            3,
                            "ready, but no request came within PT5S: the reverse proxy doesn't use"
                                    + " this replica, or no client sends requests"),
                    run(settings, "--traffic", "--timeout", "PT5S"));

            CompletableFuture<Said> waiting =
                    CompletableFuture.supplyAsync(() -> run(settings, "--traffic"));
            for (int i = 0; i < 3; i++) {
                assertEquals(200, broker.get("/health").status());
            }
            Eventually.holds(() -> {
                broker.get("/credentials/idp-providers");
                return waiting.isDone();
            });
            assertEquals(new Said(0, "ready, and receiving requests"), waiting.join());
        }
    }

    @Test
    void what_keeps_it_from_being_ready_is_named() {
        int nobody = RunningBroker.freePort();
        assertEquals(
                new Said(
                        1,
                        "not ready within PT0.3S: http://127.0.0.1:%d doesn't respond (ConnectException)"
                                .formatted(nobody)),
                run(adminPort(nobody), "--timeout", "PT0.3S"));
        assertEquals(
                new Said(
                        1,
                        "ADMIN_PORT is 0, so the command can't know the port; set ADMIN_PORT to a"
                                + " fixed port"),
                run(adminPort(0)));
    }

    @Test
    void a_port_with_a_certificate_of_its_own_is_asked_too() throws Exception {
        Path certificate = directory.resolve("admin.crt");
        Path key = directory.resolve("admin.key");
        Process openssl =
                new ProcessBuilder(
                                "openssl",
                                "req",
                                "-x509",
                                "-newkey",
                                "ec",
                                "-pkeyopt",
                                "ec_paramgen_curve:P-256",
                                "-nodes",
                                "-days",
                                "2",
                                "-subj",
                                "/CN=elsewhere.example",
                                "-keyout",
                                key.toString(),
                                "-out",
                                certificate.toString())
                        .redirectErrorStream(true)
                        .start();
        openssl.getInputStream().readAllBytes();
        assertEquals(0, openssl.waitFor());
        Map<String, String> tls =
                Map.of(
                        "ADMIN_TLS_CERTIFICATE_FILE", certificate.toString(),
                        "ADMIN_TLS_KEY_FILE", key.toString());
        try (TestDatabase database = TestDatabase.migrated();
                RunningBroker broker = RunningBroker.on(database, tls)) {
            Map<String, String> settings = new HashMap<>(tls);
            settings.putAll(adminPort(broker.adminPort()));
            assertEquals(new Said(0, "ready"), run(settings));
            settings.put("ADMIN_TLS_CERTIFICATE_FILE", other().toString());
            Said said = run(settings, "--timeout", "PT0.1S");
            assertEquals(1, said.status());
            assertTrue(said.text().contains("doesn't respond"), said.text());
        }
    }

    private Path other() throws Exception {
        Path certificate = directory.resolve("other.crt");
        Process openssl =
                new ProcessBuilder(
                                "openssl",
                                "req",
                                "-x509",
                                "-newkey",
                                "ec",
                                "-pkeyopt",
                                "ec_paramgen_curve:P-256",
                                "-nodes",
                                "-days",
                                "2",
                                "-subj",
                                "/CN=other.example",
                                "-keyout",
                                directory.resolve("other.key").toString(),
                                "-out",
                                certificate.toString())
                        .redirectErrorStream(true)
                        .start();
        openssl.getInputStream().readAllBytes();
        assertEquals(0, openssl.waitFor());
        return certificate;
    }
}
