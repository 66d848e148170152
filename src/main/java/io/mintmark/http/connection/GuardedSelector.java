package io.mintmark.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import io.mintmark.config.ServerBounds;

import java.util.Set;
import java.util.function.LongSupplier;

/** Puts a guard between a port and its HTTP. Must be the port's only selector. */
final class GuardedSelector implements ServerConnectionSelector {
    private final ServerConnectionSelector http;
    private final ServerBounds bounds;
    private final LongSupplier nanoTime;
    private final ConnectionDeadlines deadlines;
    private final RequestRoom room;

    /**
     * @param room for requests that have given their turns back
     */
    GuardedSelector(
            ServerConnectionSelector http,
            ServerBounds bounds,
            LongSupplier nanoTime,
            ConnectionDeadlines deadlines,
            RequestRoom room) {
        this.http = http;
        this.bounds = bounds;
        this.nanoTime = nanoTime;
        this.deadlines = deadlines;
        this.room = room;
    }

    @Override
    public int bytesToIdentifyConnection() {
        return http.bytesToIdentifyConnection();
    }

    @Override
    public Support supports(BufferData data) {
        return http.supports(data);
    }

    @Override
    public Set<String> supportedApplicationProtocols() {
        return http.supportedApplicationProtocols();
    }

    @Override
    public ServerConnection connection(ConnectionContext context) {
        ConnectionState state =
                new ConnectionState(bounds, nanoTime, context.serverSocket()::close);
        return new GuardedConnection(
                http.connection(new GuardedContext(context, state, deadlines)),
                context.serverSocket(),
                state,
                deadlines,
                room);
    }
}
