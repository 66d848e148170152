package io.mintmark.provider.s3sts;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.provider.MintingBroker;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** A real MinIO that trusts an issuer for its own origin and reads policies from a claim. */
final class Minio implements AutoCloseable {
    /** A folder with {@code minio}, and {@code mc} to talk to it. */
    static final String HOME = "minio.home";

    private static final String CLIENT = "mc";
    private static final String ROOT = "root-of-test";
    private static final String ROOT_PASSWORD = "password-of-test";

    private final Path home = Path.of(System.getProperty(HOME, "."));
    private final int port = RunningBroker.freePort();
    private final HttpServer issuer;
    private final Path work;
    private final Process server;

    /** What a command came to. */
    record Ran(int status, String said) {}

    Minio(Path work, Supplier<String> keySet) throws IOException {
        this.work = work;
        issuer = HttpServer.create(new InetSocketAddress(loopback(), 0), 0);
        String url = "http://127.0.0.1:" + issuer.getAddress().getPort();
        issuer.createContext("/keys", exchange -> send(exchange, keySet.get()));
        issuer.createContext(
                "/discovery",
                exchange ->
                        send(
                                exchange,
                                "{\"issuer\":\"%s\",\"jwks_uri\":\"%s/keys\"}"
                                        .formatted(MintingBroker.ISSUER, url)));
        issuer.start();
        server =
                start(
                        Map.of(
                                "MINIO_ROOT_USER",
                                ROOT,
                                "MINIO_ROOT_PASSWORD",
                                ROOT_PASSWORD,
                                "MINIO_BROWSER",
                                "off",
                                "MINIO_IDENTITY_OPENID_CONFIG_URL",
                                url + "/discovery",
                                "MINIO_IDENTITY_OPENID_CLIENT_ID",
                                endpoint(),
                                "MINIO_IDENTITY_OPENID_CLAIM_NAME",
                                "policy"),
                        "minio",
                        "server",
                        work.resolve("data").toString(),
                        "--address",
                        "127.0.0.1:" + port);
        Eventually.holds(this::listens);
    }

    /** Where it is: {@code http://127.0.0.1:port}, which is the audience of its tokens too. */
    String endpoint() {
        return "http://127.0.0.1:" + port;
    }

    /** Runs its client as whoever has the credential; it is called {@code it} there. */
    Ran client(String accessKey, String secretKey, String sessionToken, String... command)
            throws IOException, InterruptedException {
        return client("%s:%s:%s".formatted(accessKey, secretKey, sessionToken), command);
    }

    /** Runs its client as the server's own administrator. */
    Ran root(String... command) throws IOException, InterruptedException {
        return client(ROOT + ":" + ROOT_PASSWORD, command);
    }

    private Ran client(String login, String... command) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(CLIENT, "--config-dir", work + "/mc"));
        line.addAll(List.of(command));
        Process client =
                start(
                        Map.of("MC_HOST_it", "http://%s@127.0.0.1:%d".formatted(login, port)),
                        line.toArray(String[]::new));
        String said = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ran(client.waitFor(), said);
    }

    @Override
    public void close() {
        server.destroy();
        try {
            server.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        issuer.stop(0);
    }

    private Process start(Map<String, String> environment, String... command) throws IOException {
        List<String> line = new ArrayList<>(List.of(command));
        line.set(0, home.resolve(command[0]).toString());
        ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true);
        builder.environment().putAll(environment);
        if (!command[0].equals(CLIENT)) {
            builder.redirectOutput(new File(work.toFile(), "server.log"));
        }
        return builder.start();
    }

    private boolean listens() {
        try (Socket socket = new Socket(loopback(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private static void send(HttpExchange exchange, String json) throws IOException {
        try (exchange) {
            byte[] body = json.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private static InetAddress loopback() {
        return Unchecked.call(() -> InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    }
}
