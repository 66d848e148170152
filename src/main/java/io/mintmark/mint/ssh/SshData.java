package io.mintmark.mint.ssh;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Writes the data types of RFC 4251 section 5. */
final class SshData {
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    SshData raw(byte[] bytes) {
        written.writeBytes(bytes);
        return this;
    }

    SshData string(byte[] bytes) {
        return uint32(bytes.length).raw(bytes);
    }

    SshData string(String text) {
        return string(text.getBytes(StandardCharsets.UTF_8));
    }

    SshData uint32(int value) {
        return raw(ByteBuffer.allocate(Integer.BYTES).putInt(value).array());
    }

    SshData uint64(long value) {
        return raw(ByteBuffer.allocate(Long.BYTES).putLong(value).array());
    }

    SshData mpint(BigInteger value) {
        return string(value.toByteArray());
    }

    byte[] bytes() {
        return written.toByteArray();
    }
}
