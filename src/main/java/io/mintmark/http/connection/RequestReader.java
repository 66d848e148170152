package io.mintmark.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.webserver.CloseConnectionException;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Reads what a client sends, as long as there is no doubt where its requests end: then every read
 * ends the connection. It reads heads and bodies of known length, and nothing else; the server's
 * reading of chunks is out of reach. A client that leaves, whenever it does, ends the connection
 * and nothing else.
 */
final class RequestReader extends DataReader {
    /**
     * RFC 9112 section 3. Methods differ by case, which the server forgets: a proxy that forwards
     * {@code head} doesn't know that no body will follow. A target has no fragment.
     */
    private static final Pattern LINE = Pattern.compile("[A-Z]+(-[A-Z]+)* [!\"$-~]+ HTTP/1\\.1");

    private final ConnectionState state;
    private final ConnectionDeadlines deadlines;

    RequestReader(Supplier<byte[]> socket, ConnectionState state, ConnectionDeadlines deadlines) {
        super(() -> receive(socket, state));
        this.state = state;
        this.deadlines = deadlines;
    }

    private static byte[] receive(Supplier<byte[]> socket, ConnectionState state) {
        state.receives();
        byte[] bytes;
        try {
            bytes = state.awaitClient(socket);
        } catch (UncheckedIOException e) {
            throw new CloseConnectionException("the connection broke", e);
        }
        if (bytes == null) {
            throw new CloseConnectionException("the client has left");
        }
        state.hasReceived();
        return bytes;
    }

    /** Every read begins here, also of what has been received already. */
    @Override
    public void ensureAvailable() {
        if (state.isBroken()) {
            throw new CloseConnectionException("nobody knows where the next request begins");
        }
        super.ensureAvailable();
    }

    /**
     * Every request begins with the search for the end of its line, when the answer before is
     * written.
     */
    @Override
    public int findNewLine(int max) {
        if (state.isLast()) {
            throw new CloseConnectionException("the last answer is given");
        }
        if (state.awaitsLine()) {
            deadlines.answered(state);
            state.requestBegins();
        }
        return super.findNewLine(max);
    }

    /** A request's line is read in bytes. The server is lenient with it, or chokes. */
    @Override
    public byte[] readBytes(int length) {
        byte[] bytes = super.readBytes(length);
        if (state.awaitsLine()
                && !LINE.matcher(new String(bytes, StandardCharsets.ISO_8859_1)).matches()) {
            throw BadFraming.in(state, "no request line");
        }
        return bytes;
    }

    /** Lines are what separates chunks, and there are none. */
    @Override
    public String readLine() {
        throw BadFraming.in(state, "a chunk");
    }

    /** Buffers are what bodies are read in. */
    @Override
    public BufferData readBuffer(int length) {
        BufferData data = super.readBuffer(length);
        state.body().taken(length);
        return data;
    }

    /**
     * Meant for messages; the server's own waits for more data to show, and shows what is secret.
     */
    @Override
    public String debugDataHex() {
        return "";
    }
}
