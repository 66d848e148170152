package io.mintmark.postgres;

import io.mintmark.postgres.PlacedLine.Chain;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Lines by group, chain and place, however many there are: sorted in memory by the piece, and on
 * disk as a whole. A line that comes again, to the letter, is there once.
 */
final class SortedLines implements AutoCloseable {
    /** Characters of lines that are sorted in memory. */
    private static final long PIECE = 16L * 1024 * 1024;

    private static final int BUFFER = 64 * 1024;

    private final Path directory;
    private final long size;
    private final List<Path> pieces = new ArrayList<>();
    private final Map<Chain, TreeMap<Long, Run>> runs = new HashMap<>();
    private final RandomAccessFile sorted;
    private final RandomAccessFile offsets;
    private List<PlacedLine> waiting = new ArrayList<>();
    private long characters;

    /**
     * Lines of a chain whose places follow one another.
     *
     * @param number of the first of them, among all
     */
    private record Run(long number, long last) {}

    SortedLines() throws IOException {
        this(PIECE);
    }

    /**
     * @param size how many characters are sorted in memory
     */
    SortedLines(long size) throws IOException {
        this.size = size;
        this.directory = Files.createTempDirectory("mintmark-export");
        this.sorted = new RandomAccessFile(directory.resolve("sorted").toFile(), "rw");
        this.offsets = new RandomAccessFile(directory.resolve("offsets").toFile(), "rw");
    }

    void add(PlacedLine line) throws IOException {
        waiting.add(line);
        characters += line.text().length();
        if (characters > size) {
            spill();
        }
    }

    private void spill() throws IOException {
        waiting.sort(PlacedLine.ORDER);
        Path file = directory.resolve("piece-" + pieces.size());
        try (DataOutputStream out = output(file)) {
            for (PlacedLine line : waiting) {
                line.write(out);
            }
        }
        pieces.add(file);
        waiting = new ArrayList<>();
        characters = 0;
    }

    /** To be called after the last line, and before any is asked for. */
    void sort() throws IOException {
        spill();
        PriorityQueue<Piece> heads =
                new PriorityQueue<>(Comparator.comparing(Piece::head, PlacedLine.ORDER));
        for (Path file : pieces) {
            Piece piece = new Piece(file);
            if (piece.next()) {
                heads.add(piece);
            }
        }
        try (DataOutputStream out = output(directory.resolve("sorted"));
                DataOutputStream index = output(directory.resolve("offsets"))) {
            merge(heads, new Merged(out, index));
        }
    }

    private static void merge(PriorityQueue<Piece> heads, Merged merged) throws IOException {
        while (!heads.isEmpty()) {
            Piece piece = heads.remove();
            merged.add(piece.head());
            if (piece.next()) {
                heads.add(piece);
            } else {
                piece.close();
            }
        }
    }

    /** All lines in their order, as they are written. */
    private final class Merged {
        private final DataOutputStream out;
        private final DataOutputStream index;
        private final List<PlacedLine> place = new ArrayList<>();
        private long offset;
        private long count;
        private long first;

        private Merged(DataOutputStream out, DataOutputStream index) {
            this.out = out;
            this.index = index;
        }

        private void add(PlacedLine line) throws IOException {
            if (place.stream().anyMatch(line::repeats)) {
                return;
            }
            boolean samePlace =
                    !place.isEmpty() && PlacedLine.ORDER.compare(place.getFirst(), line) == 0;
            boolean follows =
                    !place.isEmpty()
                            && place.size() == 1
                            && place.getFirst().chain().equals(line.chain())
                            && place.getFirst().place() + 1 == line.place();
            if (!samePlace) {
                place.clear();
            }
            place.add(line);
            line.write(out);
            index.writeLong(offset);
            offset += line.length();
            run(line, follows, samePlace);
            count++;
        }

        /** Of several lines at one place the first is found, and a run ends. */
        private void run(PlacedLine line, boolean follows, boolean samePlace) {
            if (!samePlace) {
                first = follows ? first : line.place();
                TreeMap<Long, Run> known = runs.computeIfAbsent(line.chain(), _ -> new TreeMap<>());
                long number = follows ? known.lastEntry().getValue().number() : count;
                known.put(first, new Run(number, line.place()));
            }
        }
    }

    /** The lines of a group, in their order. */
    void each(int group, Consumer<PlacedLine> each) throws IOException {
        try (DataInputStream in = input(directory.resolve("sorted"))) {
            long left = offsets.length() / Long.BYTES;
            for (PlacedLine line; left > 0; left--) {
                line = PlacedLine.read(in);
                if (line.chain().group() == group) {
                    each.accept(line);
                }
            }
        }
    }

    /** The line at a place. */
    Optional<PlacedLine> at(Chain chain, long place) throws IOException {
        var run = runs.getOrDefault(chain, new TreeMap<>()).floorEntry(place);
        if (run == null || run.getValue().last() < place) {
            return Optional.empty();
        }
        offsets.seek((run.getValue().number() + place - run.getKey()) * Long.BYTES);
        sorted.seek(offsets.readLong());
        return Optional.of(PlacedLine.read(sorted));
    }

    /** The last place of a chain; 0 if it has none. */
    long last(Chain chain) {
        var run = runs.getOrDefault(chain, new TreeMap<>()).lastEntry();
        return run == null ? 0 : run.getValue().last();
    }

    /** A file of lines that are in order. */
    private static final class Piece implements Closeable {
        private final DataInputStream in;
        private PlacedLine head = new PlacedLine(new Chain(0, Optional.empty()), 0, "", "");

        private Piece(Path file) throws IOException {
            this.in = input(file);
        }

        private PlacedLine head() {
            return head;
        }

        private boolean next() throws IOException {
            in.mark(1);
            if (in.read() < 0) {
                return false;
            }
            in.reset();
            head = PlacedLine.read(in);
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

    private static DataInputStream input(Path file) throws IOException {
        return new DataInputStream(new BufferedInputStream(Files.newInputStream(file), BUFFER));
    }

    @Override
    public void close() throws IOException {
        sorted.close();
        offsets.close();
        try (var files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }
}
