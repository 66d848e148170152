package io.mintmark.postgres;

import io.mintmark.postgres.ExportedLine.Form;
import io.mintmark.postgres.ExportedLine.Value;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The types of columns that the log's canonical form knows, and how each becomes text there. */
enum ColumnType {
    TEXT("%s::text"),
    NUMBER("%s::text"),
    TIME("trunc(extract(epoch FROM %s) * 1000000)::text"),
    BYTES("encode(%s, 'hex')"),
    ADDRESS("encode(substr(inet_send(%1$s), 5), 'hex') || '/' || masklen(%1$s)"),
    JSON("%s::text");

    private static final Pattern ADDRESS_AND_PREFIX =
            Pattern.compile("([0-9a-f.:]+)(?:/([0-9]+))?");
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
     * The canonical text of a value of an export. What PostgreSQL can't have written has a text
     * that no row of the log has, so that its hash doesn't fit.
     */
    @Nullable String canonical(Value value) {
        if (value.form() == Form.NULL) {
            return null;
        }
        boolean fits =
                value.form()
                        == switch (this) {
                            case NUMBER -> Form.NUMBER;
                            case JSON -> Form.DOCUMENT;
                            default -> Form.TEXT;
                        };
        if (!fits) {
            return impossible(value.text());
        }
        return switch (this) {
            case TEXT, NUMBER, JSON -> encodable(value.text());
            case TIME -> micros(value.text());
            case BYTES ->
                    value.text().startsWith("\\x")
                            ? value.text().substring("\\x".length())
                            : impossible(value.text());
            case ADDRESS -> address(value.text());
        };
    }

    /** No column of the log can hold the character. */
    private static String impossible(String text) {
        return "\0" + text;
    }

    /** Half a surrogate would become the same byte as a question mark. */
    private static String encodable(String text) {
        boolean plain = text.chars().noneMatch(each -> Character.isSurrogate((char) each));
        return plain || StandardCharsets.UTF_8.newEncoder().canEncode(text)
                ? text
                : impossible(text);
    }

    private static String micros(String text) {
        try {
            Instant at = OffsetDateTime.parse(text).toInstant();
            return Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, at));
        } catch (DateTimeException | ArithmeticException e) {
            return impossible(text);
        }
    }

    private static String address(String text) {
        Matcher parts = ADDRESS_AND_PREFIX.matcher(text);
        if (!parts.matches()) {
            return impossible(text);
        }
        try {
            byte[] bytes = InetAddress.ofLiteral(parts.group(1)).getAddress();
            String hex = HexFormat.of().formatHex(bytes);
            if (bytes.length == 4 && parts.group(1).contains(":")) {
                hex = "0".repeat(MAPPED * 2 - 4) + "ffff" + hex;
            }
            String prefix = parts.group(2);
            return hex + "/" + (prefix == null ? hex.length() * 4 : prefix);
        } catch (IllegalArgumentException e) {
            return impossible(text);
        }
    }
}
