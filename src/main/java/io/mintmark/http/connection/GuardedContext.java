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

/** A connection's context whose reader and writer tell the conversation what they do. */
final class GuardedContext implements ConnectionContext {
    private final ConnectionContext context;
    private final Conversation conversation;
    private final StrictReader reader;
    private final PatientWriter writer;

    GuardedContext(ConnectionContext context, Conversation conversation) {
        this.context = context;
        this.conversation = conversation;
        this.reader = new StrictReader(context.serverSocket(), conversation);
        this.writer = new PatientWriter(context.dataWriter(), conversation);
    }

    /** The conversation on a connection that was guarded from its beginning. */
    static Conversation conversation(ConnectionContext context) {
        return ((GuardedContext) context).conversation;
    }

    @Override
    public StrictReader dataReader() {
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
