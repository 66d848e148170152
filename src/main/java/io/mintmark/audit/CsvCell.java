package io.mintmark.audit;

/** A text of the log as a cell of comma-separated values (RFC 4180). */
public final class CsvCell {
    private static final String FORMULA = "=+-@\t\r";

    private CsvCell() {}

    /** In quotes, and such that no spreadsheet runs it: who sends tokens chooses texts. */
    public static String of(String text) {
        boolean formula = !text.isEmpty() && FORMULA.indexOf(text.charAt(0)) >= 0;
        return "\"" + ((formula ? "'" : "") + text).replace("\"", "\"\"") + "\"";
    }
}
