package io.mintmark.outbound;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/**
 * A socket that bounds what its peer sends in one exchange, below HTTP and TLS: interim responses,
 * TLS records without data and whatever else is read before a caller sees a byte.
 *
 * <p>A virtual thread keeps its carrier for as long as no read blocks. Against a peer that sends
 * faster than it is read, this one gives it back from time to time, so that other requests and
 * their deadlines run.
 */
final class BoundedSocket extends Socket {
    /** Four times the longest document, for the handshake and the framing. */
    static final long MOST_BYTES = 4L << 20;

    /** A document of 1 MiB takes some hundreds; TLS records without data take two each. */
    private static final long MOST_READS = 8192;

    private static final int READS_IN_A_ROW = 16;
    private static final long REST_NANOS = 100_000;

    private final Socket socket;
    private final long mostBytes;
    private long bytes;
    private long reads;
    private long lastRead = MOST_READS;

    /**
     * @param mostBytes that its peer may send in an exchange
     */
    BoundedSocket(long mostBytes) throws IOException {
        this(SocketChannel.open(), mostBytes);
    }

    /** A channel's socket knows of no proxies, and can be asked what has arrived. */
    private BoundedSocket(SocketChannel channel, long mostBytes) throws SocketException {
        super((SocketImpl) null);
        this.socket = channel.socket();
        this.mostBytes = mostBytes;
    }

    /** Another request is to be sent. */
    void beginExchange() {
        bytes = 0;
        lastRead = reads + MOST_READS;
    }

    /**
     * To yield would not do: a carrier runs the threads that yielded on it before all that wait
     * elsewhere.
     */
    private void giveWay() {
        if (++reads % READS_IN_A_ROW == 0) {
            LockSupport.parkNanos(REST_NANOS);
        }
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return new FilterInputStream(socket.getInputStream()) {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
            }

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                giveWay();
                int read = super.read(into, offset, length);
                bytes += Math.max(0, read);
                if (bytes > mostBytes || reads > lastRead) {
                    socket.close();
                    throw new IOException("the server sent too much");
                }
                return read;
            }

            @Override
            public long skip(long count) throws IOException {
                return count <= 0 || read() < 0 ? 0 : 1;
            }
        };
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        return socket.getOutputStream();
    }

    @Override
    public SocketChannel getChannel() {
        return socket.getChannel();
    }

    @Override
    public void bind(SocketAddress address) throws IOException {
        socket.bind(address);
    }

    @Override
    public void connect(SocketAddress address) throws IOException {
        socket.connect(address);
    }

    @Override
    public void connect(SocketAddress address, int timeout) throws IOException {
        socket.connect(address, timeout);
    }

    @Override
    public InetAddress getInetAddress() {
        return socket.getInetAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        return socket.getLocalAddress();
    }

    @Override
    public int getPort() {
        return socket.getPort();
    }

    @Override
    public int getLocalPort() {
        return socket.getLocalPort();
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return socket.getRemoteSocketAddress();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return socket.getLocalSocketAddress();
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        socket.setTcpNoDelay(on);
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        socket.setSoLinger(on, seconds);
    }

    @Override
    public void setSoTimeout(int milliseconds) throws SocketException {
        socket.setSoTimeout(milliseconds);
    }

    @Override
    public int getSoTimeout() throws SocketException {
        return socket.getSoTimeout();
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        socket.setKeepAlive(on);
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        socket.setReuseAddress(on);
    }

    @Override
    public void shutdownInput() throws IOException {
        socket.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    @Override
    public boolean isConnected() {
        return socket.isConnected();
    }

    @Override
    public boolean isBound() {
        return socket.isBound();
    }

    @Override
    public boolean isClosed() {
        return socket.isClosed();
    }

    @Override
    public boolean isInputShutdown() {
        return socket.isInputShutdown();
    }

    @Override
    public boolean isOutputShutdown() {
        return socket.isOutputShutdown();
    }
}
