package io.mintmark.base.outbound;

import org.apache.hc.client5.http.impl.io.DefaultManagedHttpClientConnection;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.ProtocolException;
import org.apache.hc.core5.http.io.SessionInputBuffer;
import org.apache.hc.core5.io.CloseMode;
import org.jspecify.annotations.Nullable;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

import javax.net.ssl.SSLSocket;

/**
 * A connection that reads no more than somebody asked for, and sends a request only if everything
 * that was received on it has been read. HTTP/1 matches responses to requests by order alone: after
 * a single left-over byte, the next request would get another's response. Such a connection counts
 * as stale, and fails before anything is sent if it is used nevertheless.
 *
 * <p>The client's own check only detects that the other side has closed the connection, and takes
 * left-over bytes for a sign of life.
 */
final class QuietConnection extends DefaultManagedHttpClientConnection {
    /**
     * The maximum number of interim responses (RFC 9110 section 15.2) to a request. Few servers
     * send any.
     */
    private static final int MOST_INTERIM = 8;

    private @Nullable BoundedSocket bounded;
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
        setSocket(socket);
        super.bind(socket);
    }

    @Override
    public void bind(SSLSocket secured, Socket socket) throws IOException {
        setSocket(socket);
        tls = secured;
        super.bind(secured, socket);
    }

    private void setSocket(Socket socket) {
        channel = socket.getChannel();
        bounded = socket instanceof BoundedSocket one ? one : null;
    }

    @Override
    protected InputStream createContentInputStream(
            long length, SessionInputBuffer buffer, InputStream in) {
        received = buffer;
        return new CutWhenUnread(super.createContentInputStream(length, buffer, in));
    }

    /**
     * The body of a response. The client reads a body to its end before it uses the connection
     * again, and so would never get out of an endless one.
     */
    private final class CutWhenUnread extends FilterInputStream {
        private boolean isRead;

        CutWhenUnread(InputStream body) {
            super(body);
        }

        @Override
        public int read() throws IOException {
            int read = super.read();
            isRead |= read < 0;
            return read;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int read = super.read(into, offset, length);
            isRead |= read < 0;
            return read;
        }

        @Override
        public void close() throws IOException {
            if (isRead) {
                super.close();
            } else {
                QuietConnection.this.close(CloseMode.IMMEDIATE);
            }
        }
    }

    /**
     * The client waits for the final response however many come before it.
     *
     * @throws ProtocolException if too many do
     */
    @Override
    public ClassicHttpResponse receiveResponseHeader() throws HttpException, IOException {
        if (++heads > 1 + MOST_INTERIM) {
            throw new ProtocolException("too many interim responses");
        }
        return super.receiveResponseHeader();
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
        if (bounded != null) {
            bounded.beginExchange();
        }
        super.sendRequestHeader(request);
    }

    /**
     * Whether no unexpected data has arrived. If the previous response's body was not read, the
     * state of the read buffer is unknown, and the connection doesn't pass.
     */
    private boolean isQuiet() throws IOException {
        return received != null
                && received.length() == 0
                && (tls == null || tls.getInputStream().available() == 0)
                && nothingArrived();
    }

    /** Whether no byte has arrived and the other end hasn't closed the connection. */
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
