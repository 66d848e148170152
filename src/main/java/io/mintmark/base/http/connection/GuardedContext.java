package io.mintmark.base.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.Router;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.ExecutorService;

/** A connection's context whose reader and writer keep its state. */
final class GuardedContext implements ConnectionContext {
    /** The most that an answer's headers take beside a piece of its body, in bytes. */
    private static final int LONGEST_HEADERS = 4 << 10;

    private final ConnectionContext context;
    private final Transport transport;
    private final ConnectionState state;
    private final RequestReader reader;
    private final ResponseWriter writer;

    /**
     * @param transport what the connection's bytes go through
     * @param memory for answers of all connections of the port
     * @param anyQuery see {@link RequestTarget#of}
     */
    GuardedContext(
            ConnectionContext context,
            Transport transport,
            ConnectionState state,
            ConnectionDeadlines deadlines,
            AnswerMemory memory,
            boolean anyQuery) {
        this.context = context;
        this.transport = transport;
        this.state = state;
        this.reader = new RequestReader(transport, state, deadlines, anyQuery);
        this.writer = new ResponseWriter(transport, state, memory);
    }

    /** The state of a connection that was guarded from its beginning. */
    static ConnectionState state(ConnectionContext context) {
        return ((GuardedContext) context).state;
    }

    @Override
    public RequestReader dataReader() {
        return reader;
    }

    @Override
    public DataWriter dataWriter() {
        return writer;
    }

    @Override
    public ListenerContext listenerContext() {
        return context.listenerContext();
    }

    @Override
    public ExecutorService executor() {
        return context.executor();
    }

    @Override
    public Router router() {
        return context.router();
    }

    @Override
    public Optional<ProxyProtocolData> proxyProtocolData() {
        return context.proxyProtocolData();
    }

    @Override
    public HelidonSocket serverSocket() {
        return context.serverSocket();
    }

    @Override
    public PeerInfo remotePeer() {
        return context.remotePeer();
    }

    @Override
    public PeerInfo localPeer() {
        return context.localPeer();
    }

    @Override
    public boolean isSecure() {
        return transport.isSecure();
    }

    @Override
    public String socketId() {
        return context.socketId();
    }

    @Override
    public String childSocketId() {
        return context.childSocketId();
    }

    /**
     * Writes what a client gets, for as long as it may take over it, and as long as there is memory
     * for it. Answers to HEAD end with their headers, which the server doesn't see to; a client
     * would take the rest for its next answer. A body may come in writes of its own.
     */
    private static final class ResponseWriter implements DataWriter {
        private static final String END_OF_HEADERS = "\r\n\r\n";

        private final Transport transport;
        private final ConnectionState state;
        private final AnswerMemory memory;

        /** The number of the answer whose headers are written. */
        private int headersWritten;

        ResponseWriter(Transport transport, ConnectionState state, AnswerMemory memory) {
            this.transport = transport;
            this.state = state;
            this.memory = memory;
        }

        @Override
        public void write(BufferData... buffers) {
            writeNow(BufferData.create(buffers));
        }

        @Override
        public void write(BufferData buffer) {
            writeNow(buffer);
        }

        @Override
        public void writeNow(BufferData... buffers) {
            writeNow(BufferData.create(buffers));
        }

        @Override
        public void writeNow(BufferData buffer) {
            boolean isHead = state.isHead() && state.awaitsLine(); // before, it is 100 Continue
            if (!isHead) {
                writeCounted(buffer);
            } else if (headersWritten != state.answers()) {
                writeWhole(headersOf(buffer));
            }
        }

        /** Writes data, and holds memory for it unless the maker of a long response does. */
        private void writeCounted(BufferData data) {
            int length = data.available();
            if (length <= AnswerMemory.LEAST_COUNTED + LONGEST_HEADERS || memory.isHeldBy(state)) {
                writeWhole(data);
                return;
            }
            try (AnswerHold _ =
                    memory.hold(state, state.client(), length)
                            .orElseThrow(() ->
                                    new CloseConnectionException(
                                            "too many responses are waiting for slow clients"))) {
                writeWhole(data);
            }
        }

        private void writeWhole(BufferData data) {
            try {
                state.awaitClient(() -> {
                    transport.write(data);
                    return data;
                });
            } catch (UncheckedIOException e) {
                throw new CloseConnectionException("the connection was lost", e);
            }
        }

        /** The headers of a response, which the server writes together in its first buffer. */
        private BufferData headersOf(BufferData answer) {
            byte[] bytes = answer.readBytes();
            int end = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(END_OF_HEADERS);
            headersWritten = state.answers();
            return BufferData.create(bytes, 0, end + END_OF_HEADERS.length());
        }
    }
}
