package io.mintmark.provider.postgresql;

import io.mintmark.base.outbound.DriverConnection.Protocol;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The messages of a server, whole and checked one by one (PostgreSQL's documentation, "Message
 * Formats"). The driver makes space for whatever length a server announces.
 */
final class ServerMessages extends InputStream {
    /**
     * The maximum length of a message, except for errors. No answer to the broker's statements
     * comes near.
     */
    static final int LONGEST = 64 << 10;

    /** The detail of an error may name a hundred functions, each with a hundred types. */
    static final int LONGEST_ERROR = 8 << 20;

    /** The maximum size of all messages together; a thousand names take 50 kB. */
    private static final long MOST_BYTES = 256 << 10;

    private static final int HEADER = 5;
    private static final int NULL = -1;
    private static final byte[] SSL_REQUEST = {0, 0, 0, 8, 4, (byte) 210, 22, 47};

    /** Asks for TLS as PostgreSQL does ("SSL Session Encryption"). */
    static final Protocol PROTOCOL =
            new Protocol() {
                @Override
                public void beginTls(InputStream in, OutputStream out) throws IOException {
                    out.write(SSL_REQUEST);
                    out.flush();
                    if (in.read() != 'S') {
                        throw new IOException("the server does not offer TLS");
                    }
                }

                @Override
                public InputStream messages(InputStream in) {
                    return new ServerMessages(in);
                }
            };

    private final DataInputStream in;
    private ByteBuffer message = ByteBuffer.allocate(0);
    private long bytes;

    ServerMessages(InputStream in) {
        this.in = new DataInputStream(new BufferedInputStream(in));
    }

    @Override
    public int read() throws IOException {
        return hasMore() ? Byte.toUnsignedInt(message.get()) : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (!hasMore()) {
            return -1;
        }
        int taken = Math.min(length, message.remaining());
        message.get(into, offset, taken);
        return taken;
    }

    @Override
    public int available() throws IOException {
        return message.hasRemaining() ? message.remaining() : in.available();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    private boolean hasMore() throws IOException {
        if (message.hasRemaining()) {
            return true;
        }
        int type = in.read();
        if (type < 0) {
            return false;
        }
        int announced = in.readInt();
        int longest = type == 'E' ? LONGEST_ERROR : LONGEST;
        if (announced < Integer.BYTES || announced > longest) {
            throw new IOException(
                    "the server announces a message of %d bytes instead of %d to %d"
                            .formatted(announced, Integer.BYTES, longest));
        }
        int length = Math.min(announced, LONGEST);
        bytes += length;
        if (bytes > MOST_BYTES) {
            throw new IOException("the server's messages exceed the limit for a connection");
        }
        ByteBuffer read = ByteBuffer.allocate(1 + length).put((byte) type).putInt(length);
        try {
            in.readFully(read.array(), HEADER, length - Integer.BYTES);
            skip(announced - length);
        } catch (EOFException e) {
            throw new IOException("the server closed the connection in the middle of a message", e);
        }
        if (announced > length) {
            endFields(read.array());
        }
        if (type == 'D') {
            requireValuesWithin(ByteBuffer.wrap(read.array(), HEADER, length - Integer.BYTES));
        }
        message = read.rewind();
        return true;
    }

    /**
     * Skips bytes by reading them in blocks, because the socket's own method skips byte by byte.
     */
    private void skip(int count) throws IOException {
        byte[] skipped = new byte[Math.min(count, LONGEST)];
        for (int left = count; left > 0; left -= Math.min(left, LONGEST)) {
            in.readFully(skipped, 0, Math.min(left, LONGEST));
        }
    }

    /** ErrorResponse: fields that each end in a zero, and a zero. A character may be cut in two. */
    private static void endFields(byte[] cut) {
        int end = cut.length - 2;
        while (end > HEADER && cut[end - 1] < 0) {
            end--;
        }
        Arrays.fill(cut, end, cut.length, (byte) 0);
    }

    /** DataRow: the number of columns, and for each its length and its bytes. */
    private static void requireValuesWithin(ByteBuffer row) throws IOException {
        int columns = row.remaining() < Short.BYTES ? 0 : Short.toUnsignedInt(row.getShort());
        for (int i = 0; i < columns; i++) {
            int length = row.remaining() < Integer.BYTES ? Integer.MAX_VALUE : row.getInt();
            if (length < NULL || length > row.remaining()) {
                throw new IOException("the server sends a row that is longer than its message");
            }
            row.position(row.position() + Math.max(0, length));
        }
    }
}
