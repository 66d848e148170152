package io.mintmark.audit.canonical;

import io.mintmark.audit.canonical.ExportedLine.Form;
import io.mintmark.audit.canonical.ExportedLine.Value;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** The types of columns that the log's canonical form knows, and how each becomes text there. */
public enum ColumnType {
    TEXT("%s::text"),
    NUMBER("%s::bigint"),
    TIME("%s::timestamptz"),
    BYTES("%s::bytea"),
    ADDRESS("%s::inet"),
    JSON("%s::text");

    /** Microseconds from 1970 to 2000, from which PostgreSQL counts. */
    private static final long EPOCH = 946_684_800_000_000L;

    /**
     * The offset of the address in the binary form of {@code inet}, in bytes. Family, prefix
     * length, kind and size precede it.
     */
    private static final int ADDRESS_BYTES = 4;

    private static final Pattern OCTETS =
            Pattern.compile("(0|[1-9][0-9]{0,2})([.](0|[1-9][0-9]{0,2})){3}");
    private static final Pattern GROUP = Pattern.compile("[0-9a-f]{0,4}");
    private static final Pattern PREFIX = Pattern.compile("0|[1-9][0-9]{0,2}");

    /** A time as an export has it, up to its zone; 0 is any digit, and the fraction may be less. */
    private static final String MOMENT = "0000-00-00T00:00:00.000000";

    private static final int POINT = MOMENT.indexOf('.');
    private static final int MAPPED = 12;

    private final String expression;

    ColumnType(String expression) {
        this.expression = expression;
    }

    /** SQL that reads a column as PostgreSQL sends it in binary. */
    String expression(String column) {
        return expression.formatted(column);
    }

    /** The canonical text of a value that PostgreSQL sent in binary, for {@link #expression}. */
    public String canonical(byte[] sent) {
        return switch (this) {
            case TEXT, JSON -> new String(sent, StandardCharsets.UTF_8);
            case NUMBER -> Long.toString(ByteBuffer.wrap(sent).getLong());
            case TIME -> micros(ByteBuffer.wrap(sent).getLong());
            case BYTES -> HexFormat.of().formatHex(sent);
            case ADDRESS ->
                    HexFormat.of().formatHex(sent, ADDRESS_BYTES, sent.length)
                            + "/"
                            + Byte.toUnsignedInt(sent[1]);
        };
    }

    private static String micros(long since2000) {
        if (since2000 == Long.MAX_VALUE || since2000 == Long.MIN_VALUE) {
            return since2000 > 0 ? "Infinity" : "-Infinity";
        }
        return Long.toString(since2000 + EPOCH);
    }

    /**
     * The canonical text of a value of an export.
     *
     * @throws IllegalArgumentException if PostgreSQL can't have written the value in such a column
     */
    public @Nullable String canonical(Value value) {
        if (value.form() == Form.NULL) {
            return null;
        }
        Form written =
                switch (this) {
                    case NUMBER -> Form.NUMBER;
                    case JSON -> Form.DOCUMENT;
                    case TEXT, TIME, BYTES, ADDRESS -> Form.TEXT;
                };
        require(value.form() == written);
        return switch (this) {
            case TEXT -> storable(value.text());
            case NUMBER, JSON -> value.text();
            case TIME -> micros(value.text());
            case BYTES -> bytes(value.text());
            case ADDRESS -> address(value.text());
        };
    }

    private static void require(boolean written) {
        if (!written) {
            throw new IllegalArgumentException(
                    "the value is not in the form that PostgreSQL writes");
        }
    }

    private static String storable(String text) {
        boolean plain = true;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            require(c != '\0');
            plain &= !Character.isSurrogate(c);
        }
        require(plain || StandardCharsets.UTF_8.newEncoder().canEncode(text));
        return text;
    }

    /** A value that isn't a valid time gets a text that matches no hash from the database. */
    private static String micros(String text) {
        int zone = text.length() - (text.endsWith("Z") ? "Z" : "+00:00").length();
        try {
            return isMoment(text, zone) ? Long.toString(micros(text, zone)) : "\0" + text;
        } catch (DateTimeException e) {
            return "\0" + text;
        }
    }

    private static boolean isMoment(String text, int zone) {
        boolean fits =
                (text.endsWith("Z") || text.endsWith("+00:00"))
                        && (zone == POINT || (zone > POINT + 1 && zone <= MOMENT.length()))
                        && !text.startsWith("0000");
        for (int i = 0; fits && i < zone; i++) {
            char c = text.charAt(i);
            fits = MOMENT.charAt(i) == '0' ? c >= '0' && c <= '9' : c == MOMENT.charAt(i);
        }
        return fits;
    }

    private static long micros(String text, int zone) {
        LocalDateTime second =
                LocalDateTime.of(
                        number(text, 0, 4),
                        number(text, 5, 7),
                        number(text, 8, 10),
                        number(text, 11, 13),
                        number(text, 14, 16),
                        number(text, 17, 19));
        String fraction = text.substring(Math.min(POINT + 1, zone), zone) + "000000";
        return second.toEpochSecond(ZoneOffset.UTC) * 1_000_000 + number(fraction, 0, 6);
    }

    private static int number(String text, int from, int to) {
        return Integer.parseInt(text, from, to, 10);
    }

    private static String bytes(String text) {
        String digits = text.substring(Math.min(text.length(), "\\x".length()));
        require(text.startsWith("\\x") && digits.length() % 2 == 0 && CanonicalForm.isHex(digits));
        return digits;
    }

    private static String address(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        require(isAddress(address));
        byte[] bytes = InetAddress.ofLiteral(address).getAddress();
        String hex = HexFormat.of().formatHex(bytes);
        if (bytes.length == 4 && address.contains(":")) {
            hex = "0".repeat(MAPPED * 2 - 4) + "ffff" + hex;
        }
        int bits = hex.length() * 4;
        String prefix = slash < 0 ? Integer.toString(bits) : text.substring(slash + 1);
        require(PREFIX.matcher(prefix).matches() && Integer.parseInt(prefix) <= bits);
        return hex + "/" + prefix;
    }

    /**
     * Programs take more for an address than PostgreSQL ever writes, and each takes something else.
     */
    private static boolean isAddress(String text) {
        String[] groups = text.split(":", -1);
        for (int i = 0; i < groups.length - 1; i++) {
            if (!GROUP.matcher(groups[i]).matches()) {
                return false;
            }
        }
        String last = groups[groups.length - 1];
        return OCTETS.matcher(last).matches()
                || (groups.length > 1 && GROUP.matcher(last).matches());
    }
}
