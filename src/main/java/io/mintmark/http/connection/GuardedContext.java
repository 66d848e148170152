package io.mintmark.http.connection;

import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.Router;

import java.util.Optional;
import java.util.concurrent.ExecutorService;

/** A connection's context whose reader and writer keep its state. */
final class GuardedContext implements ConnectionContext {
    private final ConnectionContext context;
    private final ConnectionState state;
    private final RequestReader reader;
    private final ResponseWriter writer;

    GuardedContext(
            ConnectionContext context, ConnectionState state, ConnectionDeadlines deadlines) {
        this.context = context;
        this.state = state;
        this.reader = new RequestReader(context.serverSocket(), state, deadlines);
        this.writer = new ResponseWriter(context.dataWriter(), state);
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
        return context.isSecure();
    }

    @Override
    public String socketId() {
        return context.socketId();
    }

    @Override
    public String childSocketId() {
        return context.childSocketId();
    }
}
