package io.mintmark.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import io.mintmark.config.ServerBounds;
import io.mintmark.http.tls.PortTls;

import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Puts a guard between a port and its HTTP. Must be the port's only selector. */
final class GuardedSelector implements ServerConnectionSelector {
    private final ServerConnectionSelector http;
    private final Optional<PortTls> tls;
    private final ServerBounds bounds;
    private final LongSupplier nanoTime;
    private final ConnectionDeadlines deadlines;
    private final RequestMemory memory;
    private final Set<String> withoutPermits;
    private final boolean anyQuery;

    /**
     * @param memory memory for requests that returned their permits
     * @param withoutPermits the paths of requests that need no permits
     * @param anyQuery see {@link RequestTarget#of}
     */
    GuardedSelector(
            ServerConnectionSelector http,
            Optional<PortTls> tls,
            ServerBounds bounds,
            LongSupplier nanoTime,
            ConnectionDeadlines deadlines,
            RequestMemory memory,
            Set<String> withoutPermits,
            boolean anyQuery) {
        this.http = http;
        this.tls = tls;
        this.bounds = bounds;
        this.nanoTime = nanoTime;
        this.deadlines = deadlines;
        this.memory = memory;
        this.withoutPermits = withoutPermits;
        this.anyQuery = anyQuery;
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
        Transport transport = transport(context);
        return new GuardedConnection(
                http.connection(new GuardedContext(context, transport, state, deadlines, anyQuery)),
                transport,
                context.serverSocket(),
                state,
                deadlines,
                memory,
                withoutPermits);
    }

    private Transport transport(ConnectionContext context) {
        return tls.<Transport>map(port ->
                        new TlsTransport(
                                context.serverSocket(), context.dataWriter(), port.engine()))
                .orElseGet(() -> new PlainTransport(context.serverSocket(), context.dataWriter()));
    }

    /** HTTP right on the socket. */
    private static final class PlainTransport implements Transport {
        private final Supplier<byte[]> socket;
        private final DataWriter writer;

        PlainTransport(Supplier<byte[]> socket, DataWriter writer) {
            this.socket = socket;
            this.writer = writer;
        }

        @Override
        public void open() {
            // nothing comes before the first request
        }

        @Override
        public byte[] get() {
            return socket.get();
        }

        @Override
        public void write(BufferData data) {
            writer.writeNow(data);
        }

        @Override
        public void finish() {
            // the next read reports the end of the connection
        }

        @Override
        public boolean isSecure() {
            return false;
        }
    }
}
