package io.mintmark.provider.postgresql;

import java.nio.charset.StandardCharsets;

/** Quotes names and texts for PostgreSQL. No statement contains either without it. */
final class Sql {
    /** The maximum length of a name. Servers cut longer names, which would then be others'. */
    static final int LONGEST_NAME = 63;

    private Sql() {}

    /** A name as a quoted identifier. */
    static String name(String name) {
        if (name.isEmpty() || name.getBytes(StandardCharsets.UTF_8).length > LONGEST_NAME) {
            throw new IllegalArgumentException(
                    "'%s' must have 1 to %d bytes".formatted(name, LONGEST_NAME));
        }
        return "\"" + withoutNul(name).replace("\"", "\"\"") + "\"";
    }

    /** A text as a literal that means the same whatever the server takes a backslash for. */
    static String text(String text) {
        String quoted = "'" + withoutNul(text).replace("'", "''") + "'";
        return text.indexOf('\\') < 0 ? quoted : " E" + quoted.replace("\\", "\\\\");
    }

    private static String withoutNul(String text) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("the text has a NUL character");
        }
        return text;
    }
}
