package io.mintmark.console;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Base64;

import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;

/** What the console's cookies are encrypted with: 32 random bytes. It can't print. */
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

    /**
     * Returns the AES key for one purpose, by HKDF (RFC 5869). A cookie encrypted for one purpose
     * can't be decrypted for another.
     */
    SecretKey keyFor(String purpose) {
        try {
            return KDF.getInstance("HKDF-SHA256")
                    .deriveKey(
                            "AES",
                            HKDFParameterSpec.ofExtract()
                                    .addIKM(bytes)
                                    .thenExpand(purpose.getBytes(StandardCharsets.UTF_8), BYTES));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JDK has no HKDF-SHA256", e);
        }
    }

    /** Returns a key of its own for one purpose, as a password with all of its 256 bits. */
    char[] passwordFor(String purpose) {
        return Base64.getEncoder().encodeToString(keyFor(purpose).getEncoded()).toCharArray();
    }

    @Override
    public String toString() {
        return "(hidden)";
    }
}
