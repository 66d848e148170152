package io.mintmark.broker.http;

import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A reverse proxy from Debian's packages in front of a server, as trusting as it can be set: it
 * forwards whatever it can, and all clients share a few connections to the server.
 */
public final class ReverseProxy implements AutoCloseable {

    private static final String ALLOWED =
            """
            ip_allow:
              - apply: in
                ip_addrs: 127.0.0.0/8
                action: allow
                methods: ALL
            """;

    private final int port;
    private final Process process;

    private ReverseProxy(int port, Path directory, List<String> command) throws IOException {
        this.port = port;
        this.process =
                new ProcessBuilder(command)
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("output.log").toFile())
                        .start();
        Eventually.holds(this::listens);
    }

    /**
     * Starts one.
     *
     * @param name {@code nginx}, {@code haproxy} or {@code trafficserver}
     * @param directory an empty one
     */
    public static ReverseProxy start(String name, Path directory, int server) throws IOException {
        int port = RunningBroker.freePort();
        return new ReverseProxy(
                port,
                directory,
                switch (name) {
                    case "nginx" -> nginx(directory, port, server);
                    case "haproxy" -> haproxy(directory, port, server);
                    case "trafficserver" -> trafficServer(directory, port, server);
                    default -> throw new IllegalArgumentException("no such proxy: " + name);
                });
    }

    /**
     * Starts HAProxy with the file {@code haproxy.cfg} of a directory, which listens on this port.
     */
    public static ReverseProxy haproxy(Path directory, int port) throws IOException {
        return new ReverseProxy(port, directory, haproxy(directory.resolve("haproxy.cfg")));
    }

    private static List<String> nginx(Path directory, int port, int server) throws IOException {
        Path file = directory.resolve("nginx.conf");
        Files.writeString(
                file,
                """
                daemon off;
                master_process off;
                pid %1$s/nginx.pid;
                error_log %1$s/error.log crit;
                events { worker_connections 512; }
                http {
                  access_log off;
                  client_body_temp_path %1$s/body;
                  proxy_temp_path %1$s/proxy;
                  fastcgi_temp_path %1$s/fastcgi;
                  uwsgi_temp_path %1$s/uwsgi;
                  scgi_temp_path %1$s/scgi;
                  underscores_in_headers on;
                  ignore_invalid_headers off;
                  upstream broker { server 127.0.0.1:%3$d; keepalive 2; }
                  server {
                    listen 127.0.0.1:%2$d;
                    location / {
                      proxy_pass http://broker;
                      proxy_http_version 1.1;
                      proxy_set_header Connection "";
                      proxy_request_buffering off;
                    }
                  }
                }
                """
                        .formatted(directory, port, server));
        return List.of("nginx", "-e", directory + "/error.log", "-c", file.toString());
    }

    private static List<String> haproxy(Path directory, int port, int server) throws IOException {
        Path file = directory.resolve("haproxy.cfg");
        Files.writeString(
                file,
                """
                global
                  nbthread 1
                defaults
                  mode http
                  timeout connect 5s
                  timeout client 20s
                  timeout server 20s
                  http-reuse always
                  option accept-invalid-http-request
                frontend clients
                  bind 127.0.0.1:%d
                  default_backend broker
                backend broker
                  server broker 127.0.0.1:%d pool-max-conn 2 pool-low-conn 1
                """
                        .formatted(port, server));
        return haproxy(file);
    }

    private static List<String> haproxy(Path file) {
        return List.of("haproxy", "-db", "-f", file.toString());
    }

    private static List<String> trafficServer(Path directory, int port, int server)
            throws IOException {
        Path settings = Files.createDirectory(directory.resolve("config"));
        for (String name : List.of("run", "log", "cache", "var")) {
            Files.createDirectory(directory.resolve(name));
        }
        Files.writeString(directory.resolve("runroot.yaml"), layout(directory));
        Files.writeString(settings.resolve("records.config"), records(port));
        Files.writeString(settings.resolve("ip_allow.yaml"), ALLOWED);
        Files.writeString(settings.resolve("storage.config"), "");
        Files.writeString(
                settings.resolve("remap.config"), "map / http://127.0.0.1:%d/\n".formatted(server));
        return List.of("traffic_server", "--run-root=" + directory);
    }

    /** All folders, below one. */
    private static String layout(Path directory) {
        return """
        prefix: %1$s
        exec_prefix: %1$s
        bindir: /usr/bin
        sbindir: /usr/bin
        sysconfdir: %1$s/config
        datadir: %1$s/cache
        includedir: %1$s
        libdir: %1$s
        libexecdir: %1$s
        localstatedir: %1$s/var
        runtimedir: %1$s/run
        logdir: %1$s/log
        cachedir: %1$s/cache
        """
                .formatted(directory);
    }

    private static String records(int port) {
        return """
        CONFIG proxy.config.http.server_ports STRING %d:ip-in=127.0.0.1
        CONFIG proxy.config.admin.user_id STRING #-1
        CONFIG proxy.config.exec_thread.autoconfig INT 0
        CONFIG proxy.config.exec_thread.limit INT 1
        CONFIG proxy.config.http.cache.http INT 0
        CONFIG proxy.config.reverse_proxy.enabled INT 1
        CONFIG proxy.config.url_remap.remap_required INT 1
        CONFIG proxy.config.http.strict_uri_parsing INT 0
        CONFIG proxy.config.http.server_session_sharing.match STRING both
        CONFIG proxy.config.http.server_session_sharing.pool STRING global
        """
                .formatted(port);
    }

    private boolean listens() {
        try (Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    public int port() {
        return port;
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(Eventually.SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException("interrupted", e));
        }
    }
}
