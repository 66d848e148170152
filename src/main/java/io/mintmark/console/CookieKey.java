package io.mintmark.console;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;

/** What sessions are encrypted with: 32 random bytes. It can't print. */
public final class CookieKey {
    private static final int BYTES = 32;

    private final byte[] bytes;

    private CookieKey(byte[] bytes) {
        this.bytes = bytes.clone();
    }

    /**
     * Reads a file of one line in base64.
     *
     * @throws IllegalArgumentException if it holds anything else; the message is the end of a
     *     sentence about the file
     */
    public static CookieKey read(Path file) {
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(Files.readString(file).strip());
        } catch (IOException | IllegalArgumentException e) {
            throw new IllegalArgumentException("can't be read as one line of base64", e);
        }
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException(
                    "holds %d bytes and not %d".formatted(bytes.length, BYTES));
        }
        return new CookieKey(bytes);
    }

    /** As a password with all of its bits. */
    char[] asPassword() {
        return Base64.getEncoder().encodeToString(bytes).toCharArray();
    }

    @Override
    public String toString() {
        return "(hidden)";
    }
}
