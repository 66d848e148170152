package io.mintmark.base.http.observe;

import io.helidon.health.HealthCheck;
import io.helidon.http.HttpPrologue;
import io.helidon.http.Method;
import io.helidon.metrics.api.MeterRegistry;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.observe.ObserveFeature;
import io.helidon.webserver.observe.health.HealthObserver;
import io.helidon.webserver.observe.metrics.MetricsObserver;
import io.mintmark.base.config.AdminSettings;

import java.util.List;

/** The admin port of the broker and of the console: health and metrics, to operators only. */
public final class Observation {
    /** The name of the port's socket in its server. */
    public static final String ADMIN = "admin";

    /**
     * The maximum number of connections. Those beyond it wait until an idle one may be closed, so
     * it is far above what a client leaves open by mistake.
     */
    public static final int CONNECTIONS = 1024;

    /** The maximum number of concurrent requests. */
    public static final int REQUESTS = 64;

    public static final String UNKNOWN_PATH =
            "Unknown path; the admin port has GET /observe/health/live, GET /observe/health/ready"
                    + " and GET /observe/metrics.";

    private Observation() {}

    /** Gives the port its address, and its answers to HEAD. */
    public static void listen(ListenerConfig.Builder socket, AdminSettings admin) {
        socket.host(admin.host().getHostAddress())
                .port(admin.port())
                .routing(routing -> routing.addFilter(Observation::takeHeadForGet));
    }

    /** Answers HEAD as GET; the port sends the headers alone (RFC 9110 section 9.3.2). */
    private static void takeHeadForGet(
            FilterChain chain, RoutingRequest request, RoutingResponse response) {
        HttpPrologue asked = request.prologue();
        if (asked.method().equals(Method.HEAD)) {
            request.prologue(
                    HttpPrologue.create(
                            asked.rawProtocol(),
                            asked.protocol(),
                            asked.protocolVersion(),
                            Method.GET,
                            asked.uriPath(),
                            asked.query(),
                            asked.fragment()));
        }
        chain.proceed();
    }

    /** The port's routes. */
    public static ObserveFeature feature(List<? extends HealthCheck> checks, MeterRegistry meters) {
        return ObserveFeature.builder()
                .observersDiscoverServices(false)
                .sockets(List.of(ADMIN))
                .addObserver(
                        HealthObserver.builder()
                                .useSystemServices(false)
                                .details(true)
                                .addHealthChecks(List.copyOf(checks))
                                .build())
                .addObserver(MetricsObserver.builder().meterRegistry(meters).build())
                .build();
    }
}
