package io.mintmark.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;

import java.util.function.Supplier;

/** HTTP right on the socket. */
final class PlainTransport implements Transport {
    private final Supplier<byte[]> socket;
    private final DataWriter writer;

    PlainTransport(Supplier<byte[]> socket, DataWriter writer) {
        this.socket = socket;
        this.writer = writer;
    }

    @Override
    public void open() {
        // nothing comes before the first request
    }

    @Override
    public byte[] get() {
        return socket.get();
    }

    @Override
    public void write(BufferData data) {
        writer.writeNow(data);
    }

    @Override
    public void finish() {
        // the next read reports the end of the connection
    }

    @Override
    public boolean isSecure() {
        return false;
    }
}
