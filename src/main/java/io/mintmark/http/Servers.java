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

    /** What a request may take besides the call of its access provider. */
    private static final Duration OVERHEAD = Duration.ofSeconds(10);

    private final ListenerDefaults forClients;
    private final ListenerDefaults forOperators;
    private final Duration drain;
    private final WebServer server;

    /**
     * The ports, not listening yet.
     *
     * @param providerTimeout how long the call of an access provider may take
     */
    public Servers(
            ServerSettings settings,
            AdminSettings admin,
            Duration providerTimeout,
            Routes routes,
            List<HealthCheck> readiness,
            MeterRegistry meters,
            InstantSource clock) {
        this.drain = settings.drain();
        OpenFiles.requireEnough(settings.bounds().maxConnections() + OPERATORS);
        this.forClients = new ListenerDefaults(settings.bounds(), routes.cors(), clock);
        this.forOperators =
                new ListenerDefaults(
                        settings.bounds().withCounts(OPERATORS, OPERATORS),
                        new Cors(Set.of()),
                        clock);
        WebServerConfig.Builder builder =
                WebServer.builder()
                        .featuresDiscoverServices(false)
                        .shutdownHook(false)
                        .shutdownGracePeriod(providerTimeout.plus(OVERHEAD))
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

    /**
     * Serves on for a while, with answers that end their connections; then listens no more and
     * waits for the requests in flight.
     */
    @Override
    public void close() {
        drain();
        forClients.closeIdle();
        forOperators.closeIdle();
        server.stop();
        forClients.close();
        forOperators.close();
    }

    private void drain() {
        if (server.isRunning()) {
            try {
                forClients.drain(drain);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // then the stop goes on at once
            }
        }
    }
}
