package io.mintmark.console;

import io.helidon.health.HealthCheck;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.metrics.api.MeterRegistry;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http.DirectHandlers;
import io.mintmark.base.config.AdminSettings;
import io.mintmark.base.config.ServerBounds;
import io.mintmark.base.http.connection.GuardedPort;
import io.mintmark.base.http.observe.Observation;
import io.mintmark.base.http.request.AccessLog;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.http.tls.PortTls;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The console's port for operators, with the bounds and the framing of the broker's. */
final class ConsoleAdminPort implements AutoCloseable {
    private final AdminSettings settings;
    private final GuardedPort guard;

    /**
     * @param tls without it, the port serves plain HTTP
     */
    ConsoleAdminPort(AdminSettings settings, Optional<PortTls> tls, ServerBounds bounds) {
        this.settings = settings;
        this.guard =
                new GuardedPort(
                        tls,
                        bounds.withCounts(Observation.CONNECTIONS, Observation.REQUESTS),
                        Set.of(),
                        System::nanoTime);
    }

    /** Adds the port to a server that is yet to be opened. */
    void addTo(
            WebServerConfig.Builder server,
            List<? extends HealthCheck> checks,
            MeterRegistry meters) {
        server.putSocket(Observation.ADMIN, this::listen)
                .addFeature(Observation.feature(checks, meters));
    }

    private void listen(ListenerConfig.Builder socket) {
        Observation.listen(socket, settings);
        guard.guard(socket, false);
        DirectHandlers.Builder errors = DirectHandlers.builder();
        for (DirectHandler.EventType event : DirectHandler.EventType.values()) {
            errors.addHandler(event, ConsoleAdminPort::error);
        }
        socket.directHandlers(errors.build())
                .maxPayloadSize(0)
                .contentEncoding(encodings -> encodings.contentEncodingsDiscoverServices(false));
    }

    /** A line of text: the server's own answers quote the request. */
    private static DirectHandler.TransportResponse error(
            DirectHandler.TransportRequest request,
            DirectHandler.EventType event,
            Status status,
            ServerResponseHeaders headers,
            @Nullable String message) {
        String sentence =
                status.code() == Status.NOT_FOUND_404.code()
                        ? Observation.UNKNOWN_PATH
                        : "The request can't be answered: " + status.reasonPhrase() + ".";
        String requestId =
                RequestIds.current().orElseGet(() -> RequestIds.chosen(request.headers()));
        AccessLog.unrouted(
                GuardedPort.currentPeer(), requestId, status.code(), "INVALID_REQUEST", sentence);
        headers.set(HeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
        headers.set(HeaderValues.create(RequestIds.HEADER, requestId));
        return DirectHandler.TransportResponse.builder()
                .status(Status.create(status.code()))
                .headers(headers)
                .keepAlive(event.keepAlive())
                .entity((sentence + "\n").getBytes(StandardCharsets.UTF_8))
                .build();
    }

    /**
     * Makes every response the last one of its connection, and closes connections without a request
     * in flight, now and from now on.
     */
    void closeIdle() {
        guard.drain();
        guard.closeIdle();
    }

    @Override
    public void close() {
        guard.close();
    }
}
