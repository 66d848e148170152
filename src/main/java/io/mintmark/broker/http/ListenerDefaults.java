package io.mintmark.broker.http;

import io.helidon.http.DirectHandler.EventType;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.http.DirectHandlers;
import io.mintmark.base.config.ServerBounds;
import io.mintmark.base.http.connection.GuardedPort;
import io.mintmark.base.http.tls.PortTls;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * What a port has below its routes: bounds for slow and greedy clients, strict framing, and the
 * interface's error body also where no route is reached. One for each port; to be closed after it.
 */
final class ListenerDefaults implements AutoCloseable {
    private final GuardedPort guard;
    private final DirectHandlers errors;

    /**
     * @param tls without it, the port serves plain HTTP
     * @param withoutPermits the paths of requests that are answered however many others are in
     *     flight
     * @param nanoTime measures clients' time
     */
    ListenerDefaults(
            Optional<PortTls> tls,
            ServerBounds bounds,
            Set<String> withoutPermits,
            DirectErrors errors,
            LongSupplier nanoTime) {
        this.guard = new GuardedPort(tls, bounds, withoutPermits, nanoTime);
        this.errors = everywhere(errors);
    }

    /** Configures a port that is yet to be opened. */
    void apply(ListenerConfig.BuilderBase<?, ?> port) {
        guard.guard(port, false);
        port.directHandlers(errors)
                .maxPayloadSize(Bodies.LONGEST)
                .contentEncoding(encodings -> encodings.contentEncodingsDiscoverServices(false));
    }

    private static DirectHandlers everywhere(DirectErrors errors) {
        DirectHandlers.Builder builder = DirectHandlers.builder();
        for (EventType event : EventType.values()) {
            builder.addHandler(event, errors);
        }
        return builder.build();
    }

    /**
     * Continues to serve, with responses that end their connections, until no connection is open or
     * the time is over.
     */
    void drain(Duration atMost) throws InterruptedException {
        guard.drain();
        guard.awaitEmpty(atMost);
    }

    /** Closes connections after their requests in flight. */
    void closeIdle() {
        guard.drain();
        guard.closeIdle();
    }

    @Override
    public void close() {
        guard.close();
    }
}
