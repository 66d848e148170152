package io.mintmark.console;

import io.mintmark.base.file.RegularFile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;

/**
 * What the console's cookies are encrypted with: 32 random bytes. A second key may follow, which
 * only decrypts, so that the keys are changed without ending a session. It can't print.
 */
public final class CookieKey {
    private static final int BYTES = 32;

    private static final int MOST_KEYS = 2;
    private static final int MOST_BYTES = 4096;

    /** Without a command that writes the file: it could overwrite a key that is in use. */
    private static final String CORRECTION =
            "; correct that line, or, if the key is lost, write a new one (openssl rand -base64 32), which ends all sessions";

    private final List<byte[]> keys;
    private final Optional<Instant> written;

    private CookieKey(List<byte[]> keys, Optional<Instant> written) {
        this.keys = List.copyOf(keys);
        this.written = written;
    }

    /**
     * Reads a file of one or two lines in base64.
     *
     * @throws IllegalArgumentException if it holds anything else; the message is the end of a
     *     sentence about the file
     */
    public static CookieKey read(Path file) {
        List<String> lines;
        try {
            lines = RegularFile.text(file, MOST_BYTES).strip().lines().toList();
        } catch (RegularFile.Unfit e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "must hold one or two keys in base64, each on a line of its own", e);
        }
        if (lines.isEmpty()) {
            throw new IllegalArgumentException(
                    "holds no key; make one with: openssl rand -base64 32 > " + file);
        }
        if (lines.size() > MOST_KEYS) {
            throw new IllegalArgumentException(
                    "has %d lines, but at most %d keys are allowed: the current key, then one that only decrypts; remove the other lines"
                            .formatted(lines.size(), MOST_KEYS));
        }
        return new CookieKey(lines.stream().map(CookieKey::key).toList(), written(file));
    }

    private static Optional<Instant> written(Path file) {
        try {
            return Optional.of(Files.getLastModifiedTime(file).toInstant());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The time at which the key's file was written; empty if that isn't known. */
    public Optional<Instant> written() {
        return written;
    }

    private static byte[] key(String line) {
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(line.strip());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("has a line that is not base64" + CORRECTION, e);
        }
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException(
                    "holds a key of %d bytes instead of %d".formatted(bytes.length, BYTES)
                            + CORRECTION);
        }
        return bytes;
    }

    /**
     * Returns the AES keys for one purpose, by HKDF (RFC 5869): the first encrypts, each decrypts.
     * A cookie encrypted for one purpose can't be decrypted for another.
     */
    List<SecretKey> keysFor(String purpose) {
        return keys.stream().map(bytes -> derived(bytes, purpose)).toList();
    }

    private static SecretKey derived(byte[] bytes, String purpose) {
        try {
            return KDF.getInstance("HKDF-SHA256")
                    .deriveKey(
                            "AES",
                            HKDFParameterSpec.ofExtract()
                                    .addIKM(bytes)
                                    .thenExpand(purpose.getBytes(StandardCharsets.UTF_8), BYTES));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(
                    "this Java runtime lacks HKDF-SHA256; use a complete Java 25 runtime", e);
        }
    }

    /** Returns a key of its own for one purpose, as a password with all of its 256 bits. */
    char[] passwordFor(String purpose) {
        return Base64.getEncoder()
                .encodeToString(keysFor(purpose).getFirst().getEncoded())
                .toCharArray();
    }

    @Override
    public String toString() {
        return "(hidden)";
    }
}
