package io.mintmark.auditor.command;

import io.mintmark.auditor.export.PostgresExport;
import io.mintmark.base.output.ExportedRow;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The format of exported rows. */
enum ExportFormat {
    JSONL,
    CSV,
    OCSF;

    /** The text before the first row. */
    String header() {
        return this == CSV ? Csv.header(PostgresExport.COLUMNS) : "";
    }

    /**
     * A row of {@code audit.event}.
     *
     * @param row all columns, as JSON
     */
    String event(String row) {
        return switch (this) {
            case JSONL -> row + "\n";
            case CSV -> Csv.line(PostgresExport.COLUMNS, ExportedRow.parse(row));
            case OCSF -> Ocsf.event(row) + "\n";
        };
    }

    /**
     * Formats a row of {@code audit.config_change}.
     *
     * @param row all columns, as JSON
     */
    String change(String row) {
        return switch (this) {
            case JSONL -> row + "\n";
            case CSV -> throw new IllegalStateException("CSV contains only events");
            case OCSF -> Ocsf.change(row) + "\n";
        };
    }

    /**
     * A checkpoint.
     *
     * @param line as the broker prints it
     */
    String checkpoint(String line) {
        return switch (this) {
            case JSONL -> line + "\n";
            case CSV -> throw new IllegalStateException("CSV contains only events");
            case OCSF -> Ocsf.checkpoint(line) + "\n";
        };
    }

    /**
     * A cosignature.
     *
     * @param line as JSON
     */
    String cosignature(String line) {
        return switch (this) {
            case JSONL -> line + "\n";
            case CSV -> throw new IllegalStateException("CSV contains only events");
            case OCSF -> Ocsf.cosignature(line) + "\n";
        };
    }

    /**
     * The row that a line was made from, in the jsonl format; empty if no export writes the line.
     */
    Optional<String> row(String line) {
        return switch (this) {
            case JSONL -> Optional.of(line);
            case CSV -> throw new IllegalStateException("CSV can't contain a proof");
            case OCSF -> Ocsf.row(line);
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Takes {@code ndjson} too, which is what some call JSON lines. */
    static final class Converter implements ITypeConverter<ExportFormat> {
        @Override
        public ExportFormat convert(String word) {
            return Arrays.stream(values())
                    .filter(format -> format.toString().equalsIgnoreCase(word))
                    .findFirst()
                    .or(() -> Optional.of(JSONL).filter(_ -> word.equals("ndjson")))
                    .orElseThrow(() ->
                            new TypeConversionException(
                                    "'%s' must be one of %s"
                                            .formatted(
                                                    word,
                                                    Arrays.stream(values())
                                                            .map(ExportFormat::toString)
                                                            .collect(Collectors.joining(", ")))));
        }
    }
}
