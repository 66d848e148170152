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
    /** The maximum number of rows in a file. */
    public static final int MOST = 5_000;

    public void send(ServerResponse response) {
        response.header(HeaderNames.CONTENT_TYPE, "text/csv; charset=utf-8")
                .header(
                        HeaderNames.CONTENT_DISPOSITION,
                        "attachment; filename=\"%s\"".formatted(fileName()))
                .send(text().getBytes(StandardCharsets.UTF_8));
    }

    /** The file in an address of its own (RFC 2397), for a link of a page that holds the file. */
    public String address() {
        return "data:text/csv;charset=utf-8," + Links.encoded(text());
    }

    /** The name of the file with its ending. */
    public String fileName() {
        return name + ".csv";
    }

    private String text() {
        return Stream.of(Stream.of(head), rows.map(CsvFile::line), more.stream())
                .flatMap(part -> part)
                .collect(Collectors.joining("\r\n", "", "\r\n"));
    }

    /** A line of the file. A missing value is empty, without quotes. */
    private static String line(List<String> row) {
        return row.stream()
                .map(cell -> cell.isEmpty() ? "" : CsvCell.of(cell))
                .collect(Collectors.joining(","));
    }
}
