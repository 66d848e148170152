package io.mintmark.provider;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Writes the data types of RFC 4251 section 5, and reads strings. */
public final class SshData {
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    public SshData raw(byte[] bytes) {
        written.writeBytes(bytes);
        return this;
    }

    public SshData string(byte[] bytes) {
        return uint32(bytes.length).raw(bytes);
    }

    public SshData string(String text) {
        return string(text.getBytes(StandardCharsets.UTF_8));
    }

    public SshData uint32(int value) {
        return raw(ByteBuffer.allocate(Integer.BYTES).putInt(value).array());
    }

    public SshData uint64(long value) {
        return raw(ByteBuffer.allocate(Long.BYTES).putLong(value).array());
    }

    public SshData mpint(BigInteger value) {
        return string(value.toByteArray());
    }

    public byte[] bytes() {
        return written.toByteArray();
    }

    /**
     * The next string.
     *
     * @throws RuntimeException if there is none
     */
    static byte[] string(ByteBuffer from) {
        ByteBuffer part = from.slice(from.position() + Integer.BYTES, from.getInt());
        byte[] string = new byte[part.remaining()];
        part.get(string);
        from.position(from.position() + string.length);
        return string;
    }

    /** The next string, as text. */
    public static String text(ByteBuffer from) {
        return new String(string(from), StandardCharsets.UTF_8);
    }
}
