package io.mintmark.base.outbound;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
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
final class BoundedSocket extends DelegatingSocket {
    /**
     * The maximum number of bytes in an exchange: four times the longest document, which leaves
     * bytes for the handshake and the framing.
     */
    static final long MOST_BYTES = 4L << 20;

    /** The maximum number of reads in an exchange. A document of 1 MiB takes some hundreds. */
    private static final long MOST_READS = 8192;

    /** The number of reads that may return little data. A TLS record takes two reads. */
    private static final long SMALL_READS = 1024;

    /**
     * The average number of bytes that each further read must return. A TLS record that changes
     * keys (RFC 8446 section 4.6.3) returns fewer, and takes longer to read than ten records with
     * data.
     */
    private static final long BYTES_OF_A_READ = 64;

    private static final int READS_IN_A_ROW = 16;
    private static final long REST_NANOS = 100_000;

    private final long mostBytes;
    private long bytes;
    private long reads;
    private long readsBefore;

    /**
     * @param mostBytes that its peer may send in an exchange
     */
    BoundedSocket(long mostBytes) throws IOException {
        this(SocketChannel.open(), mostBytes);
    }

    /** A channel's socket knows of no proxies, and can be asked what has arrived. */
    private BoundedSocket(SocketChannel channel, long mostBytes) throws SocketException {
        super(channel.socket());
        this.mostBytes = mostBytes;
    }

    /** Notes that another request is about to be sent. */
    void beginExchange() {
        bytes = 0;
        readsBefore = reads;
    }

    private boolean isTooMuch() {
        long most = Math.min(MOST_READS, SMALL_READS + bytes / BYTES_OF_A_READ);
        return bytes > mostBytes || reads - readsBefore > most;
    }

    /**
     * Pauses after a number of reads, so that other virtual threads get the carrier. {@link
     * Thread#yield} is not enough: a carrier runs its own yielded threads before any thread that
     * waits elsewhere.
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
                if (isTooMuch()) {
                    socket.close();
                    throw new IOException("the server sent more data than expected");
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
    public SocketChannel getChannel() {
        return socket.getChannel();
    }
}
