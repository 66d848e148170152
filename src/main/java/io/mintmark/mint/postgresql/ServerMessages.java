package io.mintmark.mint.postgresql;

import io.mintmark.outbound.Dial.Protocol;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * The messages of a server, whole and checked one by one (PostgreSQL's documentation, "Message
 * Formats"). The driver makes space for whatever length a server announces.
 */
final class ServerMessages extends InputStream {
    /** No answer to the broker's statements comes near. */
    static final int LONGEST = 64 << 10;

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
        int length = in.readInt();
        if (length < Integer.BYTES || length > LONGEST) {
            throw new IOException("the server announces a message of %d bytes".formatted(length));
        }
        ByteBuffer read = ByteBuffer.allocate(1 + length).put((byte) type).putInt(length);
        try {
            in.readFully(read.array(), HEADER, length - Integer.BYTES);
        } catch (EOFException e) {
            throw new IOException("the server broke off within a message", e);
        }
        if (type == 'D') {
            requireValuesWithin(ByteBuffer.wrap(read.array(), HEADER, length - Integer.BYTES));
        }
        message = read.rewind();
        return true;
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
