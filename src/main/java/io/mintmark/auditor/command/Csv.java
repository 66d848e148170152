package io.mintmark.auditor.command;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.text.CsvCell;
import io.mintmark.base.output.ExportedRow;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Comma-separated values (RFC 4180): every text in quotes, nothing at all for a null. */
final class Csv {
    private static final String END = "\r\n";

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
        return value.isNumber() ? text : CsvCell.of(text);
    }
}
