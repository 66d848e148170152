package io.mintmark.audit;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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

    /**
     * Rows of {@code audit.event} from before its columns {@code shared_revision} and {@code
     * config_hash}: the same without these two, which are null there.
     */
    static final CanonicalForm EVENT_1 = new CanonicalForm("mintmark event 1", 14, 16);

    /** Rows of {@code audit.config_change}, all columns but the two hashes. */
    public static final CanonicalForm CHANGE = new CanonicalForm("mintmark change 1");

    /**
     * The rows that a decision rests on: the tenant's {@code external_id}, and the digests of the
     * identity provider, access provider, key and grant.
     */
    public static final CanonicalForm DECISION = new CanonicalForm("mintmark decision 1");

    /** The length of every hash. */
    public static final int HASH_BYTES = 32;

    /** What the first row of a chain has in place of its predecessor's hash, in hexadecimal. */
    public static final String ORIGIN = "0".repeat(64);

    private static final String FIRST_FORM = "1.";
    private static final HexFormat HEX = HexFormat.of();

    private final String name;
    private final int gap;
    private final int behindGap;

    /** A form that isn't one of the log's rows, such as that of what a decision rests on. */
    public CanonicalForm(String name) {
        this(name, 0, 0);
    }

    /**
     * @param gap the first field that isn't there, if it is null
     * @param behindGap the next one that is there again
     */
    private CanonicalForm(String name, int gap, int behindGap) {
        this.name = name;
        this.gap = gap;
        this.behindGap = behindGap;
    }

    /** The form of the rows of a chain of {@code audit.event}: its name begins with the number. */
    static CanonicalForm ofEvents(@Nullable String chain) {
        return isFirst(chain) ? EVENT_1 : EVENT;
    }

    /** Whether a chain of {@code audit.event} is of the first form. */
    public static boolean isFirst(@Nullable String chain) {
        return chain != null && chain.startsWith(FIRST_FORM);
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

    /** The canonical form itself. */
    byte[] bytes(List<@Nullable String> fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1_024);
        add(bytes, name);
        for (int i = 0; i < fields.size(); i++) {
            String field = fields.get(i);
            if (field != null || i < gap || i >= behindGap) {
                add(bytes, field);
            }
        }
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

    /** SHA-256, which every Java has. */
    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
