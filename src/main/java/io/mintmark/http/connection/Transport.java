package io.mintmark.http.connection;

import io.helidon.common.buffers.BufferData;

import java.util.function.Supplier;

/**
 * What is between a connection's socket and its HTTP. Every method may wait for the client, and
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
}
