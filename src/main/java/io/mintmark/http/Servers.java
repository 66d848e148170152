package io.mintmark.http;

import io.helidon.health.HealthCheck;
import io.helidon.metrics.api.MeterRegistry;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.observe.ObserveFeature;
import io.helidon.webserver.observe.health.HealthObserver;
import io.helidon.webserver.observe.metrics.MetricsObserver;
import io.mintmark.config.AdminSettings;
import io.mintmark.config.ServerSettings;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;

/** The two ports: one for clients, one for operators. */
public final class Servers implements AutoCloseable {
    private static final String ADMIN = "admin";
    private static final int OPERATORS = 64;
    private static final Duration GRACE = Duration.ofSeconds(20);

    private final ServerFoundation forClients;
    private final ServerFoundation forOperators;
    private final WebServer server;

    public Servers(
            ServerSettings settings,
            AdminSettings admin,
            Routes routes,
            List<HealthCheck> readiness,
            MeterRegistry meters,
            InstantSource clock) {
        OpenFiles.requireEnough(settings.bounds().maxConnections() + OPERATORS);
        this.forClients = new ServerFoundation(settings.bounds(), routes.cors(), clock);
        this.forOperators =
                new ServerFoundation(
                        settings.bounds().withCounts(OPERATORS, OPERATORS),
                        new Cors(Set.of()),
                        clock);
        WebServerConfig.Builder builder =
                WebServer.builder()
                        .featuresDiscoverServices(false)
                        .shutdownHook(false)
                        .shutdownGracePeriod(GRACE)
                        .host(settings.host().getHostAddress())
                        .port(settings.port())
                        .routing(routes::register)
                        .putSocket(ADMIN, socket -> listen(socket, admin))
                        .addFeature(observation(readiness, meters));
        forClients.apply(builder);
        this.server = builder.build();
    }

    private void listen(ListenerConfig.Builder socket, AdminSettings admin) {
        socket.host(admin.host().getHostAddress()).port(admin.port());
        forOperators.apply(socket);
    }

    private static ObserveFeature observation(List<HealthCheck> readiness, MeterRegistry meters) {
        return ObserveFeature.builder()
                .observersDiscoverServices(false)
                .sockets(List.of(ADMIN))
                .addObserver(
                        HealthObserver.builder()
                                .useSystemServices(false)
                                .details(true)
                                .addHealthChecks(readiness)
                                .build())
                .addObserver(MetricsObserver.builder().meterRegistry(meters).build())
                .build();
    }

    /**
     * Listens.
     *
     * @throws IllegalStateException if it can't; the server itself only logs why
     */
    public void start() {
        server.start();
        if (!server.isRunning()) {
            throw new IllegalStateException(
                    "SERVER_PORT or ADMIN_PORT can't be listened on; the log says why");
        }
    }

    /** The public port, which may have been chosen by the system. */
    public int port() {
        return server.port();
    }

    /** The port for operators. */
    public int adminPort() {
        return server.port(ADMIN);
    }

    /** Takes no new requests and waits for those in flight. */
    @Override
    public void close() {
        forClients.closeIdle();
        forOperators.closeIdle();
        server.stop();
        forClients.close();
        forOperators.close();
    }
}
