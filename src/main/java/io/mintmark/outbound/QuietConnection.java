package io.mintmark.outbound;

import org.apache.hc.client5.http.impl.io.DefaultManagedHttpClientConnection;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.io.SessionInputBuffer;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

import javax.net.ssl.SSLSocket;

/**
 * A connection that sends a request only if everything that was received on it has been read.
 * HTTP/1 matches responses to requests by order alone: after a single left-over byte, the next
 * request would get another's response. Such a connection counts as stale, and fails before
 * anything is sent if it is used nevertheless.
 *
 * <p>The client's own check only detects that the other side has closed the connection, and takes
 * left-over bytes for a sign of life.
 */
final class QuietConnection extends DefaultManagedHttpClientConnection {
    /** Of responses to one request, the final one among them. */
    private static final int MOST_HEADS = 10;

    private @Nullable SocketChannel channel;
    private @Nullable SSLSocket tls;
    private @Nullable SessionInputBuffer received;
    private boolean used;
    private int heads;

    QuietConnection(String id) {
        super(id);
    }

    @Override
    public void bind(Socket socket) throws IOException {
        channel = socket.getChannel();
        super.bind(socket);
    }

    @Override
    public void bind(SSLSocket secured, Socket socket) throws IOException {
        channel = socket.getChannel();
        tls = secured;
        super.bind(secured, socket);
    }

    @Override
    protected InputStream createContentInputStream(
            long length, SessionInputBuffer buffer, InputStream in) {
        received = buffer;
        return super.createContentInputStream(length, buffer, in);
    }

    @Override
    public boolean isStale() throws IOException {
        return !isOpen() || !isQuiet();
    }

    /**
     * Bytes of the TLS handshake may arrive right after it (RFC 8446 section 4.6.1), so a new
     * connection is only checked if it is a plain one.
     */
    @Override
    public void sendRequestHeader(ClassicHttpRequest request) throws HttpException, IOException {
        if (used ? !isQuiet() : tls == null && !nothingArrived()) {
            throw new IOException("the server sent data before the request");
        }
        used = true;
        heads = 0;
        super.sendRequestHeader(request);
    }

    /**
     * The client reads on after each interim response (RFC 9110 section 15.2). While they keep
     * coming, its thread never waits, so that no deadline interrupts it.
     */
    @Override
    public ClassicHttpResponse receiveResponseHeader() throws HttpException, IOException {
        if (++heads > MOST_HEADS) {
            throw new IOException("the server sent too many interim responses");
        }
        return super.receiveResponseHeader();
    }

    /**
     * After a response whose body was not read, the state of the buffer is unknown, which fails the
     * check.
     */
    private boolean isQuiet() throws IOException {
        return received != null
                && received.length() == 0
                && (tls == null || tls.getInputStream().available() == 0)
                && nothingArrived();
    }

    /** Not so if the other end has hung up. */
    private boolean nothingArrived() throws IOException {
        if (channel == null) {
            return false;
        }
        channel.configureBlocking(false);
        try {
            return channel.read(ByteBuffer.allocate(1)) == 0;
        } finally {
            if (channel.isOpen()) {
                channel.configureBlocking(true);
            }
        }
    }
}
