package io.mintmark.cli;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Comma-separated values (RFC 4180): every text in quotes, nothing at all for a null. */
final class Csv {
    private static final String END = "\r\n";
    private static final String FORMULA = "=+-@\t\r";

    private Csv() {}

    static String header(List<String> columns) {
        return line(columns, column -> column);
    }

    static String line(List<String> columns, JsonNode row) {
        return line(columns, column -> value(row.path(column)));
    }

    private static String line(List<String> columns, Function<String, String> value) {
        return columns.stream().map(value).collect(Collectors.joining(",", "", END));
    }

    private static String value(JsonNode value) {
        if (value.isNull() || value.isMissingNode()) {
            return "";
        }
        String text = ExportedRow.text(value);
        return value.isNumber() ? text : "\"" + harmless(text).replace("\"", "\"\"") + "\"";
    }

    /**
     * A spreadsheet would run a text that begins like a formula; who sends tokens chooses texts.
     */
    private static String harmless(String text) {
        return !text.isEmpty() && FORMULA.indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
    }
}
