package io.mintmark.auditor.reader;

import io.mintmark.auditor.reader.PlacedLine.Chain;
import io.mintmark.auditor.reader.PlacedLine.Place;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Lines by group, chain, place and text, on disk, so that memory doesn't grow with their number.
 * Lines that arrive in this order are written at once; the others are sorted in memory, one piece
 * at a time. A line that comes again, to the letter, is kept once.
 */
final class SortedLines implements AutoCloseable {
    /** The size of a piece that is sorted in memory, in characters. */
    private static final long PIECE = 8L * 1024 * 1024;

    /** Estimated memory of a line beside its text, in characters. */
    private static final int OVERHEAD = 200;

    /** The number of pieces that are merged at once. */
    private static final int FAN = 64;

    private static final int BUFFER = 32 * 1024;

    private final Path directory;
    private final long size;

    /** Pieces by how often they were merged, so that each line is written a few times only. */
    private final List<List<Path>> levels = new ArrayList<>();

    private final LineIndex.Writer ordered;
    private Optional<PlacedLine> last = Optional.empty();
    private List<PlacedLine> waiting = new ArrayList<>();
    private long characters;
    private int files;
    private Optional<LineIndex> index = Optional.empty();

    /** Takes lines in their order. */
    private interface Sink {
        void add(PlacedLine line) throws IOException;
    }

    SortedLines() throws IOException {
        this(PIECE);
    }

    /**
     * @param size the size of a piece that is sorted in memory, in characters
     */
    SortedLines(long size) throws IOException {
        this.size = size;
        this.directory = Files.createTempDirectory("mintmark-lines");
        this.ordered = new LineIndex.Writer(directory, "ordered");
    }

    void add(PlacedLine line) throws IOException {
        if (last.filter(before -> PlacedLine.ORDER.compare(before, line) >= 0).isEmpty()) {
            ordered.add(line);
            last = Optional.of(line);
        } else {
            addLater(line);
        }
    }

    private void addLater(PlacedLine line) throws IOException {
        waiting.add(line);
        characters += line.text().length() + line.origin().length() + OVERHEAD;
        if (characters > size) {
            spill();
        }
    }

    private void spill() throws IOException {
        waiting.sort(PlacedLine.ORDER);
        Path file = file();
        try (DataOutputStream out = output(file)) {
            for (PlacedLine line : waiting) {
                line.write(out);
            }
        }
        waiting = new ArrayList<>();
        characters = 0;
        keep(file, 0);
    }

    private void keep(Path piece, int level) throws IOException {
        if (levels.size() == level) {
            levels.add(new ArrayList<>());
        }
        List<Path> same = levels.get(level);
        same.add(piece);
        if (same.size() == FAN) {
            Path merged = file();
            try (DataOutputStream out = output(merged)) {
                merge(same, line -> line.write(out));
            }
            same.clear();
            keep(merged, level + 1);
        }
    }

    private Path file() {
        return directory.resolve("piece-" + files++);
    }

    /** To be called after the last line, and before any is asked for. */
    void sort() throws IOException {
        if (files == 0 && waiting.isEmpty()) {
            index = Optional.of(ordered.finish());
            return;
        }
        spill();
        ordered.close();
        levels.add(List.of(ordered.lines()));
        try (LineIndex.Writer writer = new LineIndex.Writer(directory, "sorted")) {
            merge(levels.stream().flatMap(List::stream).toList(), writer::add);
            index = Optional.of(writer.finish());
        }
        levels.clear();
    }

    private static void merge(List<Path> files, Sink sink) throws IOException {
        PriorityQueue<Piece> heads =
                new PriorityQueue<>(Comparator.comparing(Piece::head, PlacedLine.ORDER));
        try {
            for (Path file : files) {
                advance(new Piece(file), heads);
            }
            Optional<PlacedLine> before = Optional.empty();
            while (!heads.isEmpty()) {
                Piece piece = heads.remove();
                PlacedLine line = piece.head();
                if (before.filter(line::repeats).isEmpty()) {
                    sink.add(line);
                }
                before = Optional.of(line);
                advance(piece, heads);
            }
        } finally {
            for (Piece piece : heads) {
                piece.close();
            }
        }
        for (Path file : files) {
            Files.delete(file);
        }
    }

    private static void advance(Piece piece, PriorityQueue<Piece> heads) throws IOException {
        if (piece.next()) {
            heads.add(piece);
        } else {
            piece.close();
        }
    }

    /** The lines of a group, in their order. */
    void each(int group, Consumer<PlacedLine> each) throws IOException {
        LineIndex lines = index.orElseThrow();
        long first = lines.first(new Place(new Chain(group, Optional.of("")), Long.MIN_VALUE));
        lines.from(
                first,
                line -> {
                    boolean inGroup = line.place().chain().group() == group;
                    if (inGroup) {
                        each.accept(line);
                    }
                    return inGroup;
                });
    }

    /** The lines of a chain from a place on, for as long as they are wanted. */
    void chainFrom(Chain chain, long at, Predicate<PlacedLine> wanted) throws IOException {
        LineIndex lines = index.orElseThrow();
        lines.from(
                lines.first(new Place(chain, at)),
                line -> line.place().chain().equals(chain) && wanted.test(line));
    }

    /** The first line at a place. */
    Optional<PlacedLine> at(Chain chain, long at) throws IOException {
        return index.orElseThrow().at(new Place(chain, at));
    }

    /** The last line of a chain up to a place, the place included. */
    Optional<PlacedLine> upTo(Chain chain, long at) throws IOException {
        return before(new Place(chain, next(at)), chain);
    }

    /** The first line of a chain behind a place. */
    Optional<PlacedLine> after(Chain chain, long at) throws IOException {
        LineIndex lines = index.orElseThrow();
        return lines.read(lines.first(new Place(chain, next(at))))
                .filter(line -> line.place().chain().equals(chain));
    }

    private static long next(long at) {
        return at == Long.MAX_VALUE ? at : at + 1;
    }

    /** The last place of a chain; 0 if it has none. */
    long last(Chain chain) throws IOException {
        return before(new Place(chain, Long.MAX_VALUE), chain)
                .map(line -> line.place().at())
                .orElse(0L);
    }

    private Optional<PlacedLine> before(Place place, Chain chain) throws IOException {
        LineIndex lines = index.orElseThrow();
        return lines.read(lines.first(place) - 1)
                .filter(line -> line.place().chain().equals(chain));
    }

    /** A file of lines that are in order. */
    private static final class Piece implements Closeable {
        private final DataInputStream in;
        private Optional<PlacedLine> head = Optional.empty();

        private Piece(Path file) throws IOException {
            this.in =
                    new DataInputStream(
                            new BufferedInputStream(Files.newInputStream(file), BUFFER));
        }

        private PlacedLine head() {
            return head.orElseThrow();
        }

        private boolean next() throws IOException {
            in.mark(1);
            if (in.read() < 0) {
                return false;
            }
            in.reset();
            head = Optional.of(PlacedLine.read(in));
            return true;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }

    private static DataOutputStream output(Path file) throws IOException {
        return new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file), BUFFER));
    }

    @Override
    public void close() throws IOException {
        ordered.close();
        if (index.isPresent()) {
            index.get().close();
        }
        try (var left = Files.newDirectoryStream(directory)) {
            for (Path file : left) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }
}
