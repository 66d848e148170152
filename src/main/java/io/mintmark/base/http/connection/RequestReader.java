package io.mintmark.base.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.LazyString;
import io.helidon.webserver.CloseConnectionException;

import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.function.Supplier;

/**
 * Reads what a client sends, as long as there is no doubt where its requests end: then every read
 * ends the connection. It reads heads and bodies of known length, and nothing else; the server's
 * reading of chunks is out of reach. A client that leaves, whenever it does, ends the connection
 * and nothing else.
 */
final class RequestReader extends DataReader {
    /**
     * The maximum number of header fields. The server compares a name with all those of the same
     * hash.
     */
    static final int MOST_FIELDS = 128;

    /** The maximum length of a header field's name, in bytes. */
    static final int LONGEST_NAME = 128;

    /**
     * The maximum length of a header field's value in bytes, with a margin above the longest token.
     */
    static final int LONGEST_VALUE = 20 * 1024;

    private final ConnectionState state;
    private final ConnectionDeadlines deadlines;
    private final boolean anyQuery;
    private int fields;

    /**
     * @param anyQuery see {@link RequestTarget#of}
     */
    @SuppressWarnings("removal") // only this constructor allows a subclass
    RequestReader(
            Supplier<byte[]> socket,
            ConnectionState state,
            ConnectionDeadlines deadlines,
            boolean anyQuery) {
        super(() -> receive(socket, state));
        this.state = state;
        this.deadlines = deadlines;
        this.anyQuery = anyQuery;
    }

    private static byte[] receive(Supplier<byte[]> socket, ConnectionState state) {
        state.receives();
        byte[] bytes;
        try {
            bytes = state.awaitClient(socket);
        } catch (UncheckedIOException e) {
            throw new CloseConnectionException("the connection was lost", e);
        }
        if (bytes == null) {
            throw new CloseConnectionException("the client disconnected");
        }
        state.hasReceived();
        return bytes;
    }

    /** Every read starts here, including reads of buffered bytes. */
    @Override
    public void ensureAvailable() {
        if (state.isBroken()) {
            throw new CloseConnectionException(
                    "the connection can't be used again, because the end of its last request is unknown");
        }
        super.ensureAvailable();
    }

    /**
     * Notes the beginning of a request: the server searches for the end of its line right after it
     * has written the previous response.
     */
    @Override
    @SuppressWarnings("ThreadPriorityCheck")
    public int findNewLine(int max) {
        if (state.isLast()) {
            throw new CloseConnectionException("the last response was sent");
        }
        if (state.awaitsLine()) {
            deadlines.answered(state);
            state.requestBegins();
            // a client that already sent its next request would never let other virtual threads run
            Thread.yield();
        }
        return super.findNewLine(max);
    }

    /** A request's line is read in bytes. The server's own parser is too lenient with it. */
    @Override
    public byte[] readBytes(int length) {
        byte[] bytes = super.readBytes(length);
        if (!state.awaitsLine()) {
            return bytes;
        }
        RequestLine line =
                RequestLine.of(bytes, anyQuery)
                        .orElseThrow(() ->
                                BadFraming.in(
                                        state,
                                        RequestLine.isHttp10(bytes)
                                                ? BadFraming.HTTP_1_0
                                                : "the request line is invalid"));
        fields = 0;
        if (line.target().authority().isEmpty()) {
            return bytes;
        }
        state.targetNames(line.target().authority());
        return line.inOriginForm();
    }

    /** Asked before every header field, and at the end of all. */
    @Override
    public boolean startsWithNewLine() {
        boolean isEnd = super.startsWithNewLine();
        if (!isEnd && ++fields > MOST_FIELDS) {
            throw BadFraming.in(state, "too many header fields");
        }
        return isEnd;
    }

    /** Names of header fields are read as text. */
    @Override
    public String readAsciiString(int length) {
        if (length > LONGEST_NAME) {
            throw BadFraming.in(state, "the name of a header field is too long");
        }
        return super.readAsciiString(length);
    }

    /** Values of header fields are read as text that is made when it is asked for. */
    @Override
    public LazyString readLazyString(Charset charset, int length) {
        if (length > LONGEST_VALUE) {
            throw BadFraming.in(state, "the value of a header field is too long");
        }
        return super.readLazyString(charset, length);
    }

    /** Only chunked bodies need lines, and chunked bodies are rejected. */
    @Override
    public String readLine() {
        throw BadFraming.in(state, "a chunk");
    }

    /** Returns the buffer into which bodies are read. */
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
