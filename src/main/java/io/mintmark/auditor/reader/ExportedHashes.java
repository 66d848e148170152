package io.mintmark.auditor.reader;

import io.mintmark.audit.canonical.ColumnType;
import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.auditor.reader.PlacedLine.Chain;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Finds the hashes of an export's rows by their places in chains. */
final class ExportedHashes {
    private final SortedLines lines;
    private final int group;

    /**
     * @param group of the lines with these rows
     */
    ExportedHashes(SortedLines lines, int group) {
        this.lines = lines;
        this.group = group;
    }

    /** The hash at each position; null: no such row. */
    List<@Nullable String> at(List<Position> positions) throws IOException {
        List<@Nullable String> hashes = new ArrayList<>();
        for (Position position : positions) {
            hashes.add(
                    lines.at(new Chain(group, position.chain()), position.at())
                            .map(ExportedHashes::hash)
                            .filter(hash -> !hash.isEmpty())
                            .orElse(null));
        }
        return hashes;
    }

    /** The hashes from each position's first row to its last, as far as the rows are there. */
    List<List<String>> within(List<Position> ranges) throws IOException {
        List<List<String>> hashes = new ArrayList<>();
        for (Position range : ranges) {
            List<String> found = new ArrayList<>();
            lines.chainFrom(
                    new Chain(group, range.chain()),
                    range.first(),
                    line -> line.place().at() <= range.at() && found.add(hash(line)));
            hashes.add(found);
        }
        return hashes;
    }

    private static String hash(PlacedLine line) {
        ExportedLine row = ExportedLine.parse(line.text()).orElseThrow();
        return Objects.requireNonNullElse(ColumnType.BYTES.canonical(row.value("hash")), "");
    }
}
