package io.mintmark.outbound;

import org.apache.hc.client5.http.impl.io.DefaultManagedHttpClientConnection;
import org.apache.hc.core5.http.ClassicHttpRequest;
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
 * A connection that sends a request only where everything that was said on it has been read. HTTP/1
 * tells an answer from another by its place alone: with as much as one byte left over, the next
 * request would get the answer to another. So such a connection counts as stale, and if it is used
 * all the same, it breaks before anything is sent.
 *
 * <p>The client's own check looks only whether the other end has hung up, and takes left-over bytes
 * for a sign of life.
 */
final class QuietConnection extends DefaultManagedHttpClientConnection {
    private @Nullable SocketChannel channel;
    private @Nullable SSLSocket tls;
    private @Nullable SessionInputBuffer received;
    private boolean used;

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
     * Right after a TLS handshake there may be bytes that belong to it (RFC 8446 section 4.6.1), so
     * a new connection is looked at only where it is a plain one.
     */
    @Override
    public void sendRequestHeader(ClassicHttpRequest request) throws HttpException, IOException {
        if (used ? !isQuiet() : tls == null && !nothingArrived()) {
            throw new IOException("the server sent data before the request");
        }
        used = true;
        super.sendRequestHeader(request);
    }

    /** After an answer whose body nobody looked at the buffer isn't known; that doesn't pass. */
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
