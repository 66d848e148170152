package io.mintmark.deployment;

import io.mintmark.endtoend.Eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;

/** nginx with the configuration of docs/run/nginx.conf, other addresses, and without TLS. */
final class DocumentedFront implements AutoCloseable {

    private final int port;
    private final Process process;

    private DocumentedFront(int port, Process process) {
        this.port = port;
        this.process = process;
    }

    /**
     * Starts it in front of two replicas.
     *
     * @param directory an empty one
     */
    static DocumentedFront start(Path directory, int port, int one, int other) throws IOException {
        Files.createDirectories(directory);
        Path file = directory.resolve("nginx.conf");
        Files.writeString(
                file,
                """
                daemon off;
                pid %1$s/nginx.pid;
                error_log %1$s/error.log;
                events { worker_connections 512; }
                http {
                  access_log off;
                  client_body_temp_path %1$s/body;
                  proxy_temp_path %1$s/proxy;
                  fastcgi_temp_path %1$s/fastcgi;
                  uwsgi_temp_path %1$s/uwsgi;
                  scgi_temp_path %1$s/scgi;
                %2$s
                }
                """
                        .formatted(directory, here(port, one, other)));
        Process process =
                new ProcessBuilder("nginx", "-e", directory + "/error.log", "-c", file.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("output.log").toFile())
                        .start();
        DocumentedFront front = new DocumentedFront(port, process);
        Eventually.holds(front::listens);
        return front;
    }

    private static String here(int port, int one, int other) throws IOException {
        return Files.readString(Path.of("docs/run/nginx.conf"))
                .replace("10.0.0.11:8080", "127.0.0.1:" + one)
                .replace("10.0.0.12:8080", "127.0.0.1:" + other)
                .replace("listen 443 ssl", "listen 127.0.0.1:" + port)
                .replaceAll("ssl_certificate\\w* .*;\n", "");
    }

    String url() {
        return "http://localhost:" + port;
    }

    private boolean listens() {
        try (Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
    }
}
