package io.mintmark.audit.note;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A text and signatures of it (c2sp.org/signed-note).
 *
 * @param text with its final newline
 */
public record SignedNote(String text, List<Signed> signatures) {
    private static final int MOST_SIGNATURES = 32;
    private static final Pattern CONTROLS = Pattern.compile("[\\x00-\\x09\\x0b-\\x1f]");
    private static final Pattern LINE = Pattern.compile("\u2014 ([^ ]+) ([A-Za-z0-9+/]+={0,2})");
    private static final int ID_BYTES = 4;

    public SignedNote {
        signatures = List.copyOf(signatures);
    }

    /**
     * A signature, whether its key is known or not.
     *
     * @param base64 of the key's id and the signature
     */
    public record Signed(String name, String base64) {
        /** One line with its newline. */
        public String line() {
            return "\u2014 %s %s\n".formatted(name, base64);
        }

        /**
         * Reads one line without its newline.
         *
         * @throws IllegalArgumentException if it is no signature
         */
        static Signed parse(String line) {
            Matcher parts = LINE.matcher(line);
            if (!parts.matches()) {
                throw new IllegalArgumentException("the note has a line that isn't a signature");
            }
            var _ = Base64Text.bytes(parts.group(2));
            return new Signed(parts.group(1), parts.group(2));
        }

        boolean isBy(NoteKey key) {
            byte[] bytes = Base64Text.bytes(base64);
            return bytes.length > ID_BYTES
                    && name.equals(key.name())
                    && ByteBuffer.wrap(bytes).getInt() == key.id();
        }
    }

    /**
     * Reads a note.
     *
     * @throws IllegalArgumentException if it isn't one
     */
    public static SignedNote parse(String note) {
        int blank = note.lastIndexOf("\n\n");
        if (blank < 1 || !note.endsWith("\n") || CONTROLS.matcher(note).find()) {
            throw new IllegalArgumentException(
                    "the note must be text, an empty line and signatures");
        }
        List<Signed> signatures = new ArrayList<>();
        for (String line : note.substring(blank + 2).lines().toList()) {
            if (signatures.size() == MOST_SIGNATURES) {
                throw new IllegalArgumentException("the note has too many signatures");
            }
            signatures.add(Signed.parse(line));
        }
        if (signatures.isEmpty()) {
            throw new IllegalArgumentException("the note has no signature");
        }
        return new SignedNote(note.substring(0, blank + 1), signatures);
    }

    /** Whether a key of type {@link NoteKey.Type#NOTE} signed it. */
    public boolean isSignedBy(NoteKey key) {
        byte[] message = text.getBytes(StandardCharsets.UTF_8);
        return signatures.stream()
                .filter(signed -> signed.isBy(key))
                .map(signed -> Base64Text.bytes(signed.base64()))
                .anyMatch(bytes ->
                        key.verifies(message, Arrays.copyOfRange(bytes, ID_BYTES, bytes.length)));
    }
}
