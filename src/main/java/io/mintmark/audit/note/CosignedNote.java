package io.mintmark.audit.note;

import io.mintmark.audit.note.SignedNote.Signed;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HexFormat;

/**
 * A witness's signature of a note, and when it was made (c2sp.org/tlog-cosignature).
 *
 * @param name of the key
 * @param id of the key
 * @param at in whole seconds
 * @param signature in hexadecimal digits
 */
public record CosignedNote(String name, int id, Instant at, String signature) {
    private static final int HEADER_BYTES = Integer.BYTES + Long.BYTES;
    private static final int SIGNATURE_BYTES = 64;

    /** The end of the year 9999, after which no clock is right. */
    private static final long LAST_SECOND = 253_402_300_799L;

    /**
     * Reads a line of a note.
     *
     * @param line with its newline or without
     * @throws IllegalArgumentException if no witness writes it
     */
    public static CosignedNote parse(String line) {
        Signed signed = Signed.parse(line.strip());
        byte[] bytes = Base64Text.bytes(signed.base64());
        if (bytes.length != HEADER_BYTES + SIGNATURE_BYTES) {
            throw new IllegalArgumentException("the line isn't a cosignature");
        }
        ByteBuffer header = ByteBuffer.wrap(bytes);
        int id = header.getInt();
        long seconds = header.getLong();
        if (seconds < 0 || seconds > LAST_SECOND) {
            throw new IllegalArgumentException("the cosignature has an invalid time");
        }
        return new CosignedNote(
                signed.name(),
                id,
                Instant.ofEpochSecond(seconds),
                HexFormat.of().formatHex(bytes, HEADER_BYTES, bytes.length));
    }

    /** Whether the cosignature names this key as its signer. The signature isn't verified. */
    public boolean isBy(NoteKey key) {
        return name.equals(key.name()) && id == key.id();
    }

    /** Whether the cosignature is this key's, and valid for this text. */
    public boolean holds(NoteKey key, String text) {
        byte[] message = message(at, text).getBytes(StandardCharsets.UTF_8);
        return isBy(key) && key.verifies(message, HexFormat.of().parseHex(signature));
    }

    /** The message that a witness signs. */
    public static String message(Instant at, String text) {
        return "cosignature/v1\ntime %d\n%s".formatted(at.getEpochSecond(), text);
    }
}
