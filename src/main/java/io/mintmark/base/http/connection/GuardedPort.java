package io.mintmark.base.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.concurrency.limits.FixedLimit;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.http.DirectHandler.TransportRequest;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionListener;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.http1.Http1ConnectionSelectorConfig;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import io.mintmark.base.config.ServerBounds;
import io.mintmark.base.http.tls.PortTls;
import io.mintmark.base.limit.Network;
import io.mintmark.base.limit.SharedPermits;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * A port that enforces limits and framing against any client: HTTP/1.1 only, unambiguous ends of
 * requests, and a deadline for everything that a client must send. Closing it stops the watch; the
 * server closes the port itself.
 */
public final class GuardedPort implements AutoCloseable {
    /** Room for the longest token in the query, in bytes. */
    private static final int LONGEST_LINE = 20 * 1024;

    /** Room for the longest token in a header, in bytes. */
    private static final int LONGEST_HEADERS = 32 * 1024;

    /**
     * The socket's send buffer in bytes (Linux doubles it): the next request of a connection is
     * read once the previous response fits into it.
     */
    private static final int SOCKET_BUFFER = 32 * 1024;

    /** The time that a request waits for a permit. */
    private static final Duration QUEUEING = Duration.ofSeconds(1);

    /** The minimum that a waiting request counts as, in KiB of a token. */
    private static final int LEAST_KEPT = 4;

    /**
     * The maximum that a waiting request counts, in KiB of a token. A parsed token takes twelve
     * times its length.
     */
    private static final int MOST_KEPT = 16;

    /**
     * The share of the heap that responses waiting for their clients may take: one byte in so many.
     */
    private static final int ONE_IN = 8;

    private final Optional<PortTls> tls;
    private final ServerBounds bounds;
    private final LongSupplier nanoTime;
    private final ConnectionDeadlines deadlines;

    /** KiB for requests that returned their permits. No owner may use more than half. */
    private final SharedPermits<String> memory;

    private final AnswerMemory answers =
            new AnswerMemory(Runtime.getRuntime().maxMemory() / ONE_IN);
    private final HandshakePermits handshakes =
            new HandshakePermits(Runtime.getRuntime().availableProcessors());
    private final Set<String> withoutPermits;

    /**
     * @param tls without it, the port serves plain HTTP
     * @param withoutPermits the paths of requests that need no permit, because they are cheap and
     *     must always be answered
     * @param nanoTime measures clients' time
     */
    public GuardedPort(
            Optional<PortTls> tls,
            ServerBounds bounds,
            Set<String> withoutPermits,
            LongSupplier nanoTime) {
        this.tls = tls;
        this.withoutPermits = Set.copyOf(withoutPermits);
        this.bounds = bounds;
        this.nanoTime = nanoTime;
        this.deadlines = new ConnectionDeadlines(bounds).start();
        int memory = 2 * bounds.maxRequests() * MOST_KEPT;
        this.memory = new SharedPermits<>(memory, memory / 2);
    }

    /**
     * Guards a port that is yet to be opened.
     *
     * @param anyQuery whether queries may have every printable ASCII character but {@code #}, and
     *     the port's own filters check them; otherwise RFC 3986 section 3.4 decides
     */
    public void guard(ListenerConfig.BuilderBase<?, ?> port, boolean anyQuery) {
        port.errorHandling(BadFraming.TOLD)
                .useNio(false) // channels would make sockets whose time-outs and closing differ
                .protocolsDiscoverServices(false)
                .addConnectionSelector(new Selector(selector(), anyQuery))
                .connectionOptions(socket ->
                        socket.socketSendBufferSize(SOCKET_BUFFER)
                                .socketReceiveBufferSize(SOCKET_BUFFER)
                                .tcpNoDelay(true)) // else a body behind its headers waits 40 ms
                .maxTcpConnections(bounds.maxConnections())
                .concurrencyLimit(requestLimit());
    }

    /** The server's own checks of queries and hosts are replaced: see {@link RequestReader}. */
    @SuppressWarnings("removal") // its check of hosts takes time by the square of their length
    private Http1ConnectionSelector selector() {
        Http1Config http =
                Http1Config.builder()
                        .maxPrologueLength(LONGEST_LINE)
                        .maxHeadersSize(LONGEST_HEADERS)
                        .validatePrologue(false)
                        .validateRequestHostHeader(false)
                        .continueImmediately(true)
                        .receiveLog(false)
                        .sendLog(false)
                        .addReceiveListener(new RequestFraming(deadlines))
                        .addSendListener(new Persistence())
                        .build();
        return Http1ConnectionSelectorConfig.builder().config(http).build();
    }

    private FixedLimit requestLimit() {
        return FixedLimit.builder()
                .permits(bounds.maxRequests())
                .fair(true)
                .queueLength(bounds.maxConnections())
                .queueTimeout(QUEUEING)
                .build();
    }

    /**
     * The request that is being answered by this thread, its line and headers as far as they were
     * read. The server has forgotten them when it has more requests than it may work on.
     */
    public static Optional<TransportRequest> currentRequest() {
        return GuardedConnection.request();
    }

    /** The other end of the connection that this thread works on. */
    public static Optional<InetAddress> currentPeer() {
        return GuardedConnection.peer();
    }

    /**
     * Returns the permit of this thread's request, because its owner is known now and is limited by
     * other means. Otherwise one owner whose requests take long could use up all permits. If too
     * much memory is held for such requests already, the request keeps its permit.
     *
     * @param tokenLength of the token that is kept, in characters
     * @return false if this owner's requests hold too much: half of the total
     */
    public static boolean releasePermit(String owner, int tokenLength) {
        return GuardedConnection.releasePermit(owner, kept(tokenLength));
    }

    /**
     * Returns the permit of this thread's request, because the request is going to wait for
     * something of its owner's.
     *
     * @param tokenLength of the token that is kept, in characters
     * @return false if such requests, of this owner or of all, hold too much memory; the request
     *     must not wait then
     */
    public static boolean releasePermitToWait(String owner, int tokenLength) {
        return GuardedConnection.releasePermitToWait(owner, kept(tokenLength));
    }

    private static int kept(int tokenLength) {
        return Math.clamp(tokenLength / 1024L, LEAST_KEPT, MOST_KEPT);
    }

    /** Makes every response announce the end of its connection and end it, from now on. */
    public void drain() {
        deadlines.drain();
    }

    /**
     * Waits until no connection is open while it drains, if only for a moment.
     *
     * @return whether it came to that in time
     */
    public boolean awaitEmpty(Duration atMost) throws InterruptedException {
        return deadlines.awaitEmpty(atMost);
    }

    /**
     * Closes connections without a request in flight, now and from now on. Call this before the
     * server stops, because the server waits for all connections to end.
     */
    public void closeIdle() {
        deadlines.closeIdle();
    }

    @Override
    public void close() {
        deadlines.close();
    }

    /** Puts a guard between the port and its HTTP. Must be the port's only selector. */
    private final class Selector implements ServerConnectionSelector {
        private final ServerConnectionSelector http;
        private final boolean anyQuery;

        Selector(ServerConnectionSelector http, boolean anyQuery) {
            this.http = http;
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
            Network client = client(context);
            ConnectionState state =
                    new ConnectionState(bounds, client, nanoTime, context.serverSocket()::close);
            Transport transport = transport(context, client);
            return new GuardedConnection(
                    http.connection(
                            new GuardedContext(
                                    context, transport, state, deadlines, answers, anyQuery)),
                    transport,
                    context.serverSocket(),
                    state,
                    deadlines,
                    memory,
                    answers,
                    withoutPermits);
        }

        private static Network client(ConnectionContext context) {
            InetSocketAddress peer = (InetSocketAddress) context.remotePeer().address();
            return Network.of(peer.getAddress());
        }

        private Transport transport(ConnectionContext context, Network client) {
            HelidonSocket socket = context.serverSocket();
            return tls.<Transport>map(port ->
                            new TlsTransport(
                                    socket,
                                    context.dataWriter(),
                                    port.engine(),
                                    handshakes,
                                    client))
                    .orElseGet(() -> new Transport.Plain(socket, context.dataWriter()));
        }
    }

    /**
     * Decides which answer is a connection's last (RFC 9112 section 9.3), says {@code Connection:
     * close} on it, and remembers that it was said: the server announces an end that it then
     * doesn't make.
     */
    private final class Persistence implements Http1ConnectionListener {
        /** Called before the headers are written, and with the very ones that will be. */
        @Override
        public void headers(ConnectionContext context, Headers headers) {
            ConnectionState state = GuardedContext.state(context);
            boolean isLast =
                    state.answerBegins(
                            deadlines.areAnswersLast() || ConnectionHeader.saysClose(headers),
                            context.dataReader().available());
            if (isLast && headers instanceof WritableHeaders<?> writable) {
                writable.set(HeaderValues.CONNECTION_CLOSE);
            }
        }
    }
}
