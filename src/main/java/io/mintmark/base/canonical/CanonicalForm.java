package io.mintmark.base.canonical;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * The bytes that a row is hashed as, so that the database, this class and anyone's script agree:
 * each field as its length in bytes, a colon, the text in UTF-8 and a comma; a null as {@code -,}.
 * The first field names the form and its number; the others follow in the order of the table's
 * columns. {@code docs/reference/audit-log-format.md} describes the forms.
 */
public final class CanonicalForm {
    /** Rows of {@code audit.event}, all columns but the two hashes. */
    public static final CanonicalForm EVENT = new CanonicalForm("mintmark event 2");

    /** Rows of {@code audit.config_change}, all columns but the two hashes. */
    public static final CanonicalForm CHANGE = new CanonicalForm("mintmark change 1");

    /**
     * The rows that a decision rests on: the tenant's {@code external_id}, and the digests of the
     * identity provider, access provider, key and grant.
     */
    public static final CanonicalForm DECISION = new CanonicalForm("mintmark decision 1");

    /** The length of every hash. */
    public static final int HASH_BYTES = 32;

    /** The previous hash of the first row of a chain, in hexadecimal. */
    public static final String ORIGIN = "0".repeat(64);

    private static final HexFormat HEX = HexFormat.of();

    private final String name;

    /** A form for other data than the log's rows, such as the data that a decision depends on. */
    public CanonicalForm(String name) {
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

    /** SHA-256 over these fields alone, in hexadecimal digits. */
    public String hash(List<@Nullable String> fields) {
        return hash("", fields);
    }

    /**
     * The hash that a row of the log must have; empty if that of the row before it isn't one,
     * because then nothing can be computed.
     */
    public String hashInChain(@Nullable String previous, List<@Nullable String> fields) {
        if (previous == null || previous.length() % 2 != 0 || !isHex(previous)) {
            return "";
        }
        return hash(previous, fields);
    }

    /** Whether a text is hexadecimal digits, the letters in lower case. */
    public static boolean isHex(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isDigit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
            if (!isDigit) {
                return false;
            }
        }
        return true;
    }

    /** The bytes that these fields are hashed as, without the hash of the row before. */
    public byte[] bytes(List<@Nullable String> fields) {
        Bytes bytes = new Bytes();
        bytes.add(name);
        fields.forEach(bytes::add);
        return Arrays.copyOf(bytes.all, bytes.size);
    }

    /** A growing byte array for one thread; the JDK's stream is synchronized. */
    private static final class Bytes {
        private static final byte[] NULL = {'-', ','};
        private static final byte[] END = {','};

        private byte[] all = new byte[1_024];
        private int size;

        private void add(@Nullable String field) {
            if (field == null) {
                add(NULL);
            } else {
                byte[] text = field.getBytes(StandardCharsets.UTF_8);
                add((text.length + ":").getBytes(StandardCharsets.US_ASCII));
                add(text);
                add(END);
            }
        }

        private void add(byte[] bytes) {
            if (all.length - size < bytes.length) {
                all = Arrays.copyOf(all, Math.max(2 * all.length, size + bytes.length));
            }
            System.arraycopy(bytes, 0, all, size, bytes.length);
            size += bytes.length;
        }
    }

    /** SHA-256, which every Java has. */
    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(
                    "this Java runtime lacks SHA-256; use a complete Java 25 runtime", e);
        }
    }
}
