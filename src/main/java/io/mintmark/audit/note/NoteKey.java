package io.mintmark.audit.note;

import io.mintmark.base.canonical.CanonicalForm;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The public half of an Ed25519 key that signs notes, with the name that it signs them with.
 *
 * @param type what its signatures are of
 * @param raw its 32 bytes, in hexadecimal digits
 */
public record NoteKey(String name, Type type, String raw) {
    /** A name with neither white space nor a plus. */
    public static final Pattern NAME = Pattern.compile("[^\\s\\p{Z}\\p{Cc}+]{1,255}");

    private static final HexFormat HEX = HexFormat.of();

    /** Stands before the bytes of the key in its X.509 form (RFC 8410). */
    private static final String X509 = "302a300506032b6570032100";

    private static final int BYTES = 32;
    private static final int ID_DIGITS = 8;

    /** The kinds of signatures that a key makes; the kind's number is part of the key's id. */
    public enum Type {
        /** The text of the note. */
        NOTE(1),

        /** The time and the text of the note (c2sp.org/tlog-cosignature). */
        COSIGNATURE(4);

        private final byte number;

        Type(int number) {
            this.number = (byte) number;
        }
    }

    public NoteKey {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "'%s' can't be the name of a key: it must have 1 to 255 characters, without white space, control characters and +"
                            .formatted(name));
        }
    }

    /**
     * Reads a verifier key, {@code name+id+base64}.
     *
     * @throws IllegalArgumentException if it isn't one of this type
     */
    public static NoteKey parse(String text, Type type) {
        String[] parts = text.split("[+]", 3);
        if (parts.length < 3) {
            throw new IllegalArgumentException("is not a key of the form NAME+ID+BASE64");
        }
        byte[] key = Base64Text.bytes(parts[2]);
        if (key.length != 1 + BYTES || key[0] != type.number) {
            throw new IllegalArgumentException(
                    "is not an Ed25519 key of type %d".formatted(type.number));
        }
        NoteKey parsed =
                new NoteKey(parts[0], type, HEX.formatHex(Arrays.copyOfRange(key, 1, key.length)));
        if (!HEX.toHexDigits(parsed.id(), ID_DIGITS).equals(parts[1])) {
            throw new IllegalArgumentException("has a key id that doesn't match the key");
        }
        var _ = parsed.key();
        return parsed;
    }

    /** The key of a pair. */
    public static NoteKey of(String name, Type type, PublicKey key) {
        byte[] encoded = key.getEncoded();
        byte[] raw = Arrays.copyOfRange(encoded, encoded.length - BYTES, encoded.length);
        return new NoteKey(name, type, HEX.formatHex(raw));
    }

    /** The verifier key, as policies have it. */
    public String text() {
        return "%s+%s+%s".formatted(name, HEX.toHexDigits(id(), ID_DIGITS), Base64Text.of(typed()));
    }

    /** Names the key in a signature. */
    public int id() {
        var sha256 = CanonicalForm.sha256();
        sha256.update((name + "\n").getBytes(StandardCharsets.UTF_8));
        return ByteBuffer.wrap(sha256.digest(typed())).getInt();
    }

    private byte[] typed() {
        byte[] key = HEX.parseHex(raw);
        return ByteBuffer.allocate(1 + key.length).put(type.number).put(key).array();
    }

    private PublicKey key() {
        try {
            return KeyFactory.getInstance("Ed25519")
                    .generatePublic(new X509EncodedKeySpec(HEX.parseHex(X509 + raw)));
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("is not an Ed25519 key", e);
        }
    }

    /** Whether a signature is of this key. */
    public boolean verifies(byte[] message, byte[] signature) {
        try {
            Signature verifying = Signature.getInstance("Ed25519");
            verifying.initVerify(key());
            verifying.update(message);
            return verifying.verify(signature);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }
}
