package io.mintmark.base.outbound;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A text that must not be shown: a token, a password, a part of a credential. It prints as a
 * fingerprint, the first eight digits of its SHA-256, so that a log distinguishes secrets.
 */
public final class Secret {
    private static final int FINGERPRINT_BYTES = 4;

    private final String text;

    public Secret(String text) {
        this.text = text;
    }

    /** The text itself, for the one place that sends it. */
    public String reveal() {
        return text;
    }

    /** The secret's length in UTF-16 units. */
    public int length() {
        return text.length();
    }

    /** SHA-256 of the text's UTF-8 form. */
    public byte[] hash() {
        return sha256(text.getBytes(StandardCharsets.UTF_8));
    }

    /** SHA-256 of bytes. */
    public static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(
                    "this Java runtime lacks SHA-256; use a complete Java 25 runtime", e);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Secret secret && MessageDigest.isEqual(hash(), secret.hash());
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return "secret:" + HexFormat.of().formatHex(hash(), 0, FINGERPRINT_BYTES);
    }
}
