package io.mintmark.base.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;
import io.mintmark.base.limit.Network;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.function.Supplier;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/**
 * HTTP in TLS. The web server's own TLS shakes hands before a connection is guarded: a client that
 * stalls there is never closed, and one that fails keeps its place among the connections. Here the
 * web server sees a plain socket, so that all bounds apply to the handshake too.
 *
 * <p>For the connection's own thread.
 */
final class TlsTransport implements Transport {
    /**
     * Records without data of one connection, such as requests for new keys, which cost only the
     * server. Clients send one after some gigabytes.
     */
    private static final int MOST_EMPTY_RECORDS = 32;

    /**
     * Records that may be as short as the client likes. Decrypting a byte costs as much as
     * decrypting a kilobyte.
     */
    private static final int MOST_SHORT_RECORDS = 64;

    /**
     * The minimum average length of all further records, in bytes. The shortest request has 26
     * bytes.
     */
    private static final int SHORTEST_RECORDS = 16;

    /**
     * The maximum that a client sends during its handshake, in bytes. A hello with post-quantum key
     * shares has 2,000. The engine copies what it has at each further fragment.
     */
    private static final int LONGEST_HANDSHAKE = 8 * 1024;

    /** The maximum content of a record (RFC 8446 section 5.1), in bytes. */
    private static final int RECORD = 16 << 10;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Supplier<byte[]> socket;
    private final DataWriter writer;
    private final SSLEngine engine;
    private final HandshakePermits handshakes;
    private final Network client;
    private ByteBuffer received = NOTHING;
    private boolean isOpen;
    private int emptyRecords;
    private long records;
    private long plaintextBytes;
    private long handshakeBytes;

    /**
     * @param socket what the client sends; null at its end
     * @param engine the server's side, not started
     * @param client whose handshakes count together
     */
    TlsTransport(
            Supplier<byte[]> socket,
            DataWriter writer,
            SSLEngine engine,
            HandshakePermits handshakes,
            Network client) {
        this.socket = socket;
        this.writer = writer;
        this.engine = engine;
        this.handshakes = handshakes;
        this.client = client;
    }

    /**
     * Does the handshake.
     *
     * @throws UncheckedIOException if the client can't or doesn't complete it
     */
    @Override
    public void open() {
        try {
            engine.beginHandshake();
            HandshakeStatus status = engine.getHandshakeStatus();
            while (status != HandshakeStatus.NOT_HANDSHAKING) {
                step(status);
                status = engine.getHandshakeStatus();
            }
            isOpen = true;
        } catch (SSLException e) {
            throw failed(e);
        }
    }

    private void step(HandshakeStatus status) throws SSLException {
        switch (status) {
            case NEED_TASK -> handshakes.run(client, engine.getDelegatedTask());
            case NEED_WRAP -> requireOpen(wrap(NOTHING));
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                if (unwrap(plaintext()) == Status.CLOSED) {
                    throw new SSLException("the client disconnected during the TLS handshake");
                }
            }
            case FINISHED, NOT_HANDSHAKING -> {
                // the loop ends
            }
        }
    }

    private static void requireOpen(Status status) throws SSLException {
        if (status == Status.CLOSED) {
            throw new SSLException("the connection is closed");
        }
    }

    @Override
    @SuppressWarnings("NullAway") // as the socket's, which the server's interface asks for
    public byte[] get() {
        try {
            ByteBuffer plain = plaintext();
            while (emptyRecords < MOST_EMPTY_RECORDS) {
                if (unwrap(plain) == Status.CLOSED) {
                    return null;
                }
                if (plain.position() > 0) {
                    byte[] bytes = new byte[plain.position()];
                    plain.flip().get(bytes);
                    return bytes;
                }
                emptyRecords++;
                afterHandshake();
            }
            throw new SSLException("the client sent too many TLS records without data");
        } catch (SSLException e) {
            throw failed(e);
        }
    }

    /** Answers a request for new keys (TLS 1.3). A whole new handshake (TLS 1.2) isn't offered. */
    private void afterHandshake() throws SSLException {
        switch (engine.getHandshakeStatus()) {
            case NEED_WRAP -> requireOpen(wrap(NOTHING));
            case NEED_TASK, NEED_UNWRAP, NEED_UNWRAP_AGAIN ->
                    throw new SSLException("the client asked for a TLS renegotiation");
            case FINISHED, NOT_HANDSHAKING -> {
                // nothing to answer
            }
        }
    }

    /** Decrypts one record, which is received as far as it isn't yet. */
    private Status unwrap(ByteBuffer plain) throws SSLException {
        while (true) {
            SSLEngineResult result = engine.unwrap(received, plain);
            Status status = result.getStatus();
            if (status == Status.BUFFER_OVERFLOW) {
                throw new SSLException("a TLS record is too long");
            }
            count(result);
            if (status != Status.BUFFER_UNDERFLOW) {
                return status;
            }
            byte[] bytes = socket.get();
            if (bytes == null) {
                return Status.CLOSED;
            }
            received =
                    ByteBuffer.allocate(received.remaining() + bytes.length)
                            .put(received)
                            .put(bytes)
                            .flip();
        }
    }

    /** Ends connections whose records cost the server much and the client little. */
    private void count(SSLEngineResult result) throws SSLException {
        if (result.bytesConsumed() > 0) {
            records++;
            plaintextBytes += result.bytesProduced();
        }
        if (records > MOST_SHORT_RECORDS + plaintextBytes / SHORTEST_RECORDS) {
            throw new SSLException("the client sent too many short TLS records");
        }
        if (!isOpen) {
            handshakeBytes += result.bytesConsumed();
            int unfinished =
                    result.getStatus() == Status.BUFFER_UNDERFLOW ? received.remaining() : 0;
            if (handshakeBytes + unfinished > LONGEST_HANDSHAKE) {
                throw new SSLException("the TLS handshake is too long");
            }
        }
    }

    private ByteBuffer plaintext() {
        return ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
    }

    @Override
    public void write(BufferData data) {
        try {
            while (data.available() > 0) {
                byte[] piece = new byte[Math.min(data.available(), RECORD)];
                int length = data.read(piece);
                ByteBuffer plain = ByteBuffer.wrap(piece, 0, length);
                while (plain.hasRemaining()) {
                    requireOpen(wrap(plain));
                }
            }
        } catch (SSLException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends one record, with as much of the data as it takes. */
    private Status wrap(ByteBuffer plain) throws SSLException {
        ByteBuffer record = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        SSLEngineResult result = engine.wrap(plain, record);
        if (result.bytesProduced() > 0) {
            writer.writeNow(BufferData.create(record.array(), 0, record.position()));
        }
        return result.getStatus();
    }

    @Override
    public void finish() {
        if (isOpen) {
            close();
        }
    }

    private void close() {
        engine.closeOutbound();
        try {
            while (!engine.isOutboundDone() && wrap(NOTHING) == Status.OK) {
                // until the last record is out
            }
        } catch (SSLException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The client learns why, if the engine has an alert for it. */
    private UncheckedIOException failed(IOException why) {
        isOpen = false;
        try {
            close();
        } catch (UncheckedIOException e) {
            why.addSuppressed(e);
        }
        return new UncheckedIOException(why);
    }

    @Override
    public boolean isSecure() {
        return true;
    }
}
