package io.mintmark.admin.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.ReservedPorts;

import org.junit.jupiter.api.Test;

import picocli.CommandLine;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The example service of docs/webhook-service.py keeps the contract. {@code .ci/libraries} installs
 * PyJWT below {@code target/libraries}.
 */
class WebhookServiceIT {
    private static final Path PYTHON =
            Path.of("target", "libraries", "venv", "bin", "python").toAbsolutePath();
    private static final List<String> FIELDS =
            List.of("--field=REGISTRY_USER", "--field=REGISTRY_PASSWORD");

    @Test
    void the_example_service_passes_all_checks() throws Exception {
        assumeTrue(Files.exists(PYTHON), "no Python below target/libraries");
        int issuer = ReservedPorts.next();
        int port = ReservedPorts.next();
        String endpoint = "http://127.0.0.1:%d/mintmark".formatted(port);
        Process service =
                new ProcessBuilder(
                                PYTHON.toString(),
                                "docs/webhook-service.py",
                                "http://127.0.0.1:" + issuer,
                                endpoint,
                                "acme",
                                String.valueOf(port))
                        .redirectErrorStream(true)
                        .redirectOutput(Path.of("target", "webhook-service.log").toFile())
                        .start();
        try {
            awaitListening(service, port);
            var out = new ByteArrayOutputStream();
            int status =
                    new CommandLine(
                                    new CheckWebhook(
                                            InstantSource.system(),
                                            new PrintStream(out, true, StandardCharsets.UTF_8)))
                            .execute(
                                    endpoint,
                                    "--target=registry/push",
                                    FIELDS.getFirst(),
                                    FIELDS.getLast(),
                                    "--listen=127.0.0.1:" + issuer);

            assertEquals(0, status, out.toString(StandardCharsets.UTF_8));
            assertTrue(out.toString(StandardCharsets.UTF_8).contains("25 of 25 checks passed"));
            assertTrue(Files.readAllLines(Path.of("docs", "webhook-service.py")).size() < 100);
        } finally {
            service.destroy();
        }
    }

    private static void awaitListening(Process service, int port) throws Exception {
        for (int i = 0; i < 200 && service.isAlive(); i++) {
            try (Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), port)) {
                assertTrue(socket.isConnected());
                return;
            } catch (IOException e) {
                boolean ended = service.waitFor(50, TimeUnit.MILLISECONDS);
                assertTrue(!ended, "the service ended, see target/webhook-service.log");
            }
        }
        throw new AssertionError("the service does not listen");
    }
}
