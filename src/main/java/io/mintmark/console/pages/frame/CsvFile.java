package io.mintmark.console.pages.frame;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.audit.text.CsvCell;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A table to download.
 *
 * @param name of the file, without its ending
 * @param head the names of the columns
 * @param more the last line if the table has more rows than the file
 */
public record CsvFile(String name, String head, Stream<List<String>> rows, Optional<String> more) {
    /** How many rows a file has at most. */
    public static final int MOST = 5_000;

    public void send(ServerResponse response) {
        response.header(HeaderNames.CONTENT_TYPE, "text/csv; charset=utf-8")
                .header(
                        HeaderNames.CONTENT_DISPOSITION,
                        "attachment; filename=\"%s.csv\"".formatted(name))
                .send(text().getBytes(StandardCharsets.UTF_8));
    }

    private String text() {
        return Stream.of(Stream.of(head), rows.map(CsvFile::line), more.stream())
                .flatMap(part -> part)
                .collect(Collectors.joining("\r\n", "", "\r\n"));
    }

    /** A missing value is empty, without quotes. */
    private static String line(List<String> row) {
        return row.stream()
                .map(cell -> cell.isEmpty() ? "" : CsvCell.of(cell))
                .collect(Collectors.joining(","));
    }
}
