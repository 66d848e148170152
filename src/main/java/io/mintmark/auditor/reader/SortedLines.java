package io.mintmark.auditor.reader;

import io.mintmark.auditor.reader.PlacedLine.Chain;
import io.mintmark.auditor.reader.PlacedLine.Place;
import io.mintmark.auditor.verify.ScratchFile;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
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

    private final long size;

    /** Pieces by how often they were merged, so that each line is written a few times only. */
    private final List<List<ScratchFile>> levels = new ArrayList<>();

    private final LineIndex.Writer ordered;
    private Optional<PlacedLine> last = Optional.empty();
    private List<PlacedLine> waiting = new ArrayList<>();
    private long characters;
    private boolean spilled;
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
        this.ordered = new LineIndex.Writer();
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
        ScratchFile file = new ScratchFile();
        spilled = true;
        try (DataOutputStream out = new DataOutputStream(file.output())) {
            for (PlacedLine line : waiting) {
                line.write(out);
            }
        }
        waiting = new ArrayList<>();
        characters = 0;
        keep(file, 0);
    }

    private void keep(ScratchFile piece, int level) throws IOException {
        if (levels.size() == level) {
            levels.add(new ArrayList<>());
        }
        List<ScratchFile> same = levels.get(level);
        same.add(piece);
        if (same.size() == FAN) {
            ScratchFile merged = new ScratchFile();
            try (DataOutputStream out = new DataOutputStream(merged.output())) {
                merge(same, line -> line.write(out));
            }
            same.clear();
            keep(merged, level + 1);
        }
    }

    /** Sorts the lines. Call this after the last line is added and before any is read. */
    void sort() throws IOException {
        if (!spilled && waiting.isEmpty()) {
            index = Optional.of(ordered.finish());
            return;
        }
        spill();
        levels.add(List.of(ordered.lines()));
        LineIndex.Writer sorted = new LineIndex.Writer();
        try {
            merge(levels.stream().flatMap(List::stream).toList(), sorted::add);
            index = Optional.of(sorted.finish());
        } finally {
            if (index.isEmpty()) {
                sorted.close();
            }
        }
        levels.clear();
    }

    private static void merge(List<ScratchFile> files, Sink sink) throws IOException {
        PriorityQueue<Piece> heads =
                new PriorityQueue<>(Comparator.comparing(Piece::head, PlacedLine.ORDER));
        try {
            for (ScratchFile file : files) {
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
        for (ScratchFile file : files) {
            file.close();
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
        return of(chain, lines.read(lines.first(new Place(chain, next(at)))));
    }

    /** The last line of a chain up to a place, and the first behind it, by one search. */
    Around around(Chain chain, long at) throws IOException {
        LineIndex lines = index.orElseThrow();
        long behind = lines.first(new Place(chain, next(at)));
        return new Around(of(chain, lines.read(behind - 1)), of(chain, lines.read(behind)));
    }

    /** Lines of a chain before and behind a place. */
    record Around(Optional<PlacedLine> upTo, Optional<PlacedLine> after) {}

    private static Optional<PlacedLine> of(Chain chain, Optional<PlacedLine> line) {
        return line.filter(found -> found.place().chain().equals(chain));
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
        return of(chain, lines.read(lines.first(place) - 1));
    }

    /** A file of lines that are in order. */
    private static final class Piece implements Closeable {
        private final DataInputStream in;
        private Optional<PlacedLine> head = Optional.empty();

        private Piece(ScratchFile file) {
            this.in = new DataInputStream(file.input());
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

    @Override
    public void close() throws IOException {
        ordered.close();
        if (index.isPresent()) {
            index.get().close();
        }
        for (List<ScratchFile> pieces : levels) {
            for (ScratchFile piece : pieces) {
                piece.close();
            }
        }
    }
}
