package io.mintmark.broker.http;

import io.helidon.health.HealthCheck;
import io.helidon.metrics.api.MeterRegistry;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.mintmark.base.config.AdminSettings;
import io.mintmark.base.config.ServerSettings;
import io.mintmark.base.http.connection.OpenFiles;
import io.mintmark.base.http.observe.Observation;
import io.mintmark.base.http.tls.CertificateWatch;
import io.mintmark.base.http.tls.PortTls;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The two ports: one for clients, one for operators. */
public final class Servers implements AutoCloseable {
    /** The maximum time of a request, without the call of its access provider. */
    private static final Duration OVERHEAD = Duration.ofSeconds(10);

    private final ListenerDefaults forClients;
    private final ListenerDefaults forOperators;
    private final CertificateWatch certificates;
    private final Duration drain;
    private final WebServer server;

    /**
     * The ports, not listening yet.
     *
     * @param tls of the public port; without it, the port serves plain HTTP
     * @param adminTls the same of the admin port
     * @param providerTimeout how long the call of an access provider may take
     */
    public Servers(
            ServerSettings settings,
            AdminSettings admin,
            Optional<PortTls> tls,
            Optional<PortTls> adminTls,
            Duration providerTimeout,
            Routes routes,
            List<HealthCheck> checks,
            MeterRegistry meters,
            InstantSource clock) {
        this.drain = settings.drain();
        this.certificates =
                new CertificateWatch(Stream.of(tls, adminTls).flatMap(Optional::stream).toList());
        OpenFiles.requireEnough(settings.bounds().maxConnections() + Observation.CONNECTIONS);
        this.forClients =
                new ListenerDefaults(
                        tls,
                        settings.bounds(),
                        Set.of(Routes.HEALTH),
                        new DirectErrors(
                                routes.cors(),
                                Optional.of(routes.limits()),
                                Routes.NO_SUCH_PATH,
                                routes.errorPage(),
                                clock),
                        System::nanoTime);
        this.forOperators =
                new ListenerDefaults(
                        adminTls,
                        settings.bounds().withCounts(Observation.CONNECTIONS, Observation.REQUESTS),
                        Set.of(),
                        new DirectErrors(
                                new Cors(Set.of()),
                                Optional.empty(),
                                Observation.UNKNOWN_PATH,
                                ErrorPage.NONE,
                                clock),
                        System::nanoTime);
        WebServerConfig.Builder builder =
                WebServer.builder()
                        .featuresDiscoverServices(false)
                        .shutdownHook(false)
                        .shutdownGracePeriod(providerTimeout.plus(OVERHEAD))
                        .host(settings.host().getHostAddress())
                        .port(settings.port())
                        .routing(routes::register)
                        .putSocket(Observation.ADMIN, socket -> listen(socket, admin))
                        .addFeature(Observation.feature(checks, meters));
        forClients.apply(builder);
        this.server = builder.build();
    }

    private void listen(ListenerConfig.Builder socket, AdminSettings admin) {
        Observation.listen(socket, admin);
        forOperators.apply(socket);
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
                    "the broker can't listen on SERVER_PORT or ADMIN_PORT; the log has the reason");
        }
        certificates.start();
    }

    /** The public port, which may have been chosen by the system. */
    public int port() {
        return server.port();
    }

    /** The port for operators. */
    public int adminPort() {
        return server.port(Observation.ADMIN);
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
        certificates.close();
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
