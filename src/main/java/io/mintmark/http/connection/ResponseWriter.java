package io.mintmark.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;
import io.helidon.webserver.CloseConnectionException;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Writes what a client gets, for as long as it may take over it. Answers to HEAD end with their
 * headers, which the server doesn't see to; a client would take the rest for its next answer.
 */
final class ResponseWriter implements DataWriter {
    private static final String END_OF_HEADERS = "\r\n\r\n";

    private final Transport transport;
    private final ConnectionState state;

    ResponseWriter(Transport transport, ConnectionState state) {
        this.transport = transport;
        this.state = state;
    }

    @Override
    public void write(BufferData... buffers) {
        writeNow(BufferData.create(buffers));
    }

    @Override
    public void write(BufferData buffer) {
        writeNow(buffer);
    }

    @Override
    public void writeNow(BufferData... buffers) {
        writeNow(BufferData.create(buffers));
    }

    @Override
    public void writeNow(BufferData buffer) {
        BufferData data = state.isHead() ? headersOf(buffer) : buffer;
        try {
            state.awaitClient(() -> {
                transport.write(data);
                return data;
            });
        } catch (UncheckedIOException e) {
            throw new CloseConnectionException("the connection broke", e);
        }
    }

    private static BufferData headersOf(BufferData answer) {
        byte[] bytes = answer.readBytes();
        int end = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(END_OF_HEADERS);
        int length = end < 0 ? 0 : end + END_OF_HEADERS.length();
        return BufferData.create(bytes, 0, length);
    }
}
