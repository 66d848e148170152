package io.mintmark.base.output;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Rows as text in columns. */
public final class Table {
    private static final String GAP = "  ";

    private Table() {}

    /** One line for each row below a head, all of as many cells. */
    public static String of(List<String> head, List<List<String>> rows) {
        List<List<String>> lines = new ArrayList<>();
        lines.add(head);
        lines.addAll(rows);
        return lines.stream().map(line -> line(line, lines)).collect(Collectors.joining());
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
