package io.mintmark.base.http.connection;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;

import java.util.function.Supplier;

/**
 * The layer between a connection's socket and its HTTP. Every method may wait for the client, and
 * throws {@link java.io.UncheckedIOException} when the connection is broken.
 */
interface Transport extends Supplier<byte[]> {
    /** Does what comes before the first request; to be called once, first. */
    void open();

    /** The next bytes that the client has sent, at least one; null if it sends no more. */
    @Override
    byte[] get();

    /** Sends bytes to the client. */
    void write(BufferData data);

    /** Reports to the client that nothing more will be sent. */
    void finish();

    /** Whether what it carries is encrypted. */
    boolean isSecure();

    /** HTTP right on the socket. */
    final class Plain implements Transport {
        private final Supplier<byte[]> socket;
        private final DataWriter writer;

        Plain(Supplier<byte[]> socket, DataWriter writer) {
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
}
