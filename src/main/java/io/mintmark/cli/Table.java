package io.mintmark.cli;

import io.mintmark.postgres.Explanations.Row;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Rows as text in columns. */
final class Table {
    private static final List<String> HEAD =
            List.of("key", "granted", "grant", "condition", "expected", "seen");
    private static final String GAP = "  ";

    private Table() {}

    /** One line for each row below a head. */
    static String of(List<Row> rows) {
        List<List<String>> lines = new ArrayList<>();
        lines.add(HEAD);
        rows.forEach(row -> lines.add(cells(row)));
        return lines.stream().map(line -> line(line, lines)).collect(Collectors.joining());
    }

    private static List<String> cells(Row row) {
        return List.of(
                row.key(),
                row.granted() ? "yes" : "no",
                row.grantId().map(String::valueOf).orElse("-"),
                row.condition().orElse("-"),
                row.expected().map(Visible::of).orElse("-"),
                row.seen().map(Visible::of).orElse("-"));
    }

    private static String line(List<String> cells, List<List<String>> all) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < cells.size(); column++) {
            String cell = cells.get(column);
            line.append(cell).append(" ".repeat(width(column, all) - cell.length())).append(GAP);
        }
        return line.toString().stripTrailing() + System.lineSeparator();
    }

    private static int width(int column, List<List<String>> lines) {
        return lines.stream().mapToInt(line -> line.get(column).length()).max().orElse(0);
    }
}
