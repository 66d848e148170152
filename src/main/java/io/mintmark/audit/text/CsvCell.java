package io.mintmark.audit.text;

import java.text.Normalizer;

/** A text of the log as a cell of comma-separated values (RFC 4180). */
public final class CsvCell {
    /** Characters that begin a formula. */
    private static final String SIGNS = "=+-@";

    /** Characters after which some spreadsheets start another formula. */
    private static final String BREAKS = "\t\r\n";

    private CsvCell() {}

    /**
     * Quotes a text so that no spreadsheet runs it as a formula. Texts come from clients' tokens,
     * so an attacker may choose them.
     */
    public static String of(String text) {
        return "\"" + ((mayBeFormula(text) ? "'" : "") + text).replace("\"", "\"\"") + "\"";
    }

    /** Spreadsheets take wide signs for plain ones, and drop what can't be seen before them. */
    private static boolean mayBeFormula(String text) {
        return !text.isEmpty()
                && (BREAKS.indexOf(text.charAt(0)) >= 0
                        || text.codePoints()
                                .dropWhile(CsvCell::isUnseen)
                                .limit(1)
                                .anyMatch(CsvCell::isSign));
    }

    /** Whether a character is a sign that begins a formula, in any of its Unicode widths. */
    private static boolean isSign(int point) {
        String plain = Normalizer.normalize(Character.toString(point), Normalizer.Form.NFKC);
        return SIGNS.indexOf(plain.codePointAt(0)) >= 0;
    }

    private static boolean isUnseen(int point) {
        return point == ' '
                || VisibleText.isHidden(point)
                || Character.getType(point) == Character.NON_SPACING_MARK;
    }
}
