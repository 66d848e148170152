package io.mintmark.postgres.canonical;

import io.mintmark.postgres.canonical.ExportedLine.Form;
import io.mintmark.postgres.canonical.ExportedLine.Value;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** The types of columns that the log's canonical form knows, and how each becomes text there. */
public enum ColumnType {
    TEXT("%s::text"),
    NUMBER("%s::text"),
    TIME("trunc(extract(epoch FROM %s) * 1000000)::text"),
    BYTES("encode(%s, 'hex')"),
    ADDRESS("encode(substr(inet_send(%1$s), 5), 'hex') || '/' || masklen(%1$s)"),
    JSON("%s::text");

    private static final Pattern OCTETS =
            Pattern.compile("(0|[1-9][0-9]{0,2})([.](0|[1-9][0-9]{0,2})){3}");
    private static final Pattern GROUP = Pattern.compile("[0-9a-f]{0,4}");
    private static final Pattern PREFIX = Pattern.compile("0|[1-9][0-9]{0,2}");

    private static final Pattern MOMENT =
            Pattern.compile(
                    "(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}"
                            + "([.][0-9]{1,6})?(Z|[+]00:00)");

    private static final Pattern HEX = Pattern.compile("\\\\x[0-9a-f]*");
    private static final int MAPPED = 12;

    private final String expression;

    ColumnType(String expression) {
        this.expression = expression;
    }

    /** SQL that reads a column's canonical text. */
    String expression(String column) {
        return expression.formatted(column);
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
            throw new IllegalArgumentException("PostgreSQL doesn't write that");
        }
    }

    private static String storable(String text) {
        boolean plain = text.chars().noneMatch(each -> Character.isSurrogate((char) each));
        require(
                text.indexOf('\0') < 0
                        && (plain || StandardCharsets.UTF_8.newEncoder().canEncode(text)));
        return text;
    }

    /** What is no time of ours has a text that no hash fits that the database made. */
    private static String micros(String text) {
        try {
            return MOMENT.matcher(text).matches()
                    ? Long.toString(
                            ChronoUnit.MICROS.between(
                                    Instant.EPOCH, OffsetDateTime.parse(text).toInstant()))
                    : "\0" + text;
        } catch (DateTimeException e) {
            return "\0" + text;
        }
    }

    private static String bytes(String text) {
        require(text.length() % 2 == 0 && HEX.matcher(text).matches());
        return text.substring("\\x".length());
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
