package io.mintmark.auditor.reader;

import io.mintmark.audit.canonical.ColumnType;
import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.audit.checkpoint.Checkpoint.Leaf;
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
    private final ExportedColumns columns;

    private ExportedHashes(SortedLines lines, int group, ExportedColumns columns) {
        this.lines = lines;
        this.group = group;
        this.columns = columns;
    }

    static ExportedHashes ofEvents(SortedLines lines) {
        return new ExportedHashes(lines, ExportedPlaces.EVENT, ExportedColumns.EVENT);
    }

    static ExportedHashes ofChanges(SortedLines lines) {
        return new ExportedHashes(lines, ExportedPlaces.CHANGE, ExportedColumns.CHANGE);
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

    /** The rows from each position's first to its last, as far as they are there. */
    List<List<Leaf>> within(List<Position> ranges) throws IOException {
        List<List<Leaf>> leaves = new ArrayList<>();
        for (Position range : ranges) {
            List<Leaf> found = new ArrayList<>();
            lines.chainFrom(
                    new Chain(group, range.chain()),
                    range.first(),
                    line -> line.place().at() <= range.at() && found.add(leaf(line)));
            leaves.add(found);
        }
        return leaves;
    }

    private Leaf leaf(PlacedLine line) {
        ExportedLine row = ExportedLine.parse(line.text()).orElseThrow();
        return new Leaf(hash(row), columns.micros(row));
    }

    private static String hash(PlacedLine line) {
        return hash(ExportedLine.parse(line.text()).orElseThrow());
    }

    private static String hash(ExportedLine row) {
        return Objects.requireNonNullElse(ColumnType.BYTES.canonical(row.value("hash")), "");
    }
}
