package io.mintmark.console.pages.statements;

import io.mintmark.audit.text.VisibleText;

import java.util.Locale;
import java.util.Optional;

/**
 * Values as literals of PostgreSQL that are valid with either value of {@code
 * standard_conforming_strings}, and without invisible characters.
 */
final class SqlText {
    private SqlText() {}

    static String of(String value) {
        boolean plain = value.codePoints().noneMatch(SqlText::isSpecial);
        return plain ? "'" + value.replace("'", "''") + "'" : escaped(value);
    }

    /** A text that may be absent. */
    static String of(Optional<String> value) {
        return value.map(SqlText::of).orElse("NULL");
    }

    private static String escaped(String value) {
        StringBuilder literal = new StringBuilder("E'");
        value.codePoints().forEach(point -> append(literal, point));
        return literal.append('\'').toString();
    }

    private static void append(StringBuilder literal, int point) {
        if (point == '\'') {
            literal.append("''");
        } else if (point == '\\') {
            literal.append("\\\\");
        } else if (VisibleText.isHidden(point)) {
            literal.append(
                    Character.isSupplementaryCodePoint(point)
                            ? String.format(Locale.ROOT, "\\U%08X", point)
                            : String.format(Locale.ROOT, "\\u%04X", point));
        } else {
            literal.appendCodePoint(point);
        }
    }

    private static boolean isSpecial(int point) {
        return point == '\\' || VisibleText.isHidden(point);
    }
}
