package io.mintmark.audit;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * The bytes that a row is hashed as, so that the database, this class and a unverified's script
 * agree: each field as its length in bytes, a colon, the text in UTF-8 and a comma; a null as
 * {@code -,}. The first field names the form and its number; the others follow in the order of the
 * table's columns. {@code docs/audit.md} describes it for strangers.
 */
public final class CanonicalForm {
    /** Rows of {@code audit.event}, all columns but the two hashes. */
    public static final CanonicalForm EVENT = new CanonicalForm("mintmark event 1");

    /** Rows of {@code audit.config_change}, all columns but the two hashes. */
    public static final CanonicalForm CHANGE = new CanonicalForm("mintmark change 1");

    /** What the first row of a chain has in place of its predecessor's hash, in hexadecimal. */
    public static final String ORIGIN = "0".repeat(64);

    private static final HexFormat HEX = HexFormat.of();

    private final String name;

    private CanonicalForm(String name) {
        this.name = name;
    }

    /**
     * SHA-256 over the hash of the row before and this row, in hexadecimal digits.
     *
     * @param previous in hexadecimal digits
     * @param fields times as microseconds since 1970 in decimal, hashes in hexadecimal, addresses
     *     as the hexadecimal digits of their bytes, a slash and the length of their prefix, {@code
     *     jsonb} as PostgreSQL prints it
     */
    public String hash(String previous, List<@Nullable String> fields) {
        MessageDigest sha256 = sha256();
        sha256.update(HEX.parseHex(previous));
        return HEX.formatHex(sha256.digest(bytes(fields)));
    }

    /** The canonical form itself. */
    byte[] bytes(List<@Nullable String> fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1_024);
        add(bytes, name);
        fields.forEach(field -> add(bytes, field));
        return bytes.toByteArray();
    }

    private static void add(ByteArrayOutputStream bytes, @Nullable String field) {
        if (field == null) {
            bytes.write('-');
        } else {
            byte[] text = field.getBytes(StandardCharsets.UTF_8);
            bytes.writeBytes(Integer.toString(text.length).getBytes(StandardCharsets.US_ASCII));
            bytes.write(':');
            bytes.writeBytes(text);
        }
        bytes.write(',');
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
