package io.mintmark.postgres;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
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
    private List<Line> waiting = new ArrayList<>();
    private long characters;

    /** A chain of a group. Without a name comes last. */
    record Chain(int group, Optional<String> name) {}

    /**
     * A line.
     *
     * @param origin where it was read, for people
     */
    record Line(Chain chain, long place, String origin, String text) {
        private static final Comparator<Line> ORDER =
                Comparator.comparingInt((Line line) -> line.chain().group())
                        .thenComparing(line -> line.chain().name().isEmpty())
                        .thenComparing(line -> line.chain().name().orElse(""))
                        .thenComparingLong(Line::place);

        private boolean repeats(Line other) {
            return ORDER.compare(this, other) == 0 && text.equals(other.text);
        }
    }

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

    void add(Line line) throws IOException {
        waiting.add(line);
        characters += line.text().length();
        if (characters > size) {
            spill();
        }
    }

    private void spill() throws IOException {
        waiting.sort(Line.ORDER);
        Path file = directory.resolve("piece-" + pieces.size());
        try (DataOutputStream out = output(file)) {
            for (Line line : waiting) {
                write(out, line);
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
                new PriorityQueue<>(Comparator.comparing(Piece::head, Line.ORDER));
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
        private final List<Line> place = new ArrayList<>();
        private long offset;
        private long count;
        private long first;

        private Merged(DataOutputStream out, DataOutputStream index) {
            this.out = out;
            this.index = index;
        }

        private void add(Line line) throws IOException {
            if (place.stream().anyMatch(line::repeats)) {
                return;
            }
            boolean samePlace = !place.isEmpty() && Line.ORDER.compare(place.getFirst(), line) == 0;
            boolean follows =
                    !place.isEmpty()
                            && place.size() == 1
                            && place.getFirst().chain().equals(line.chain())
                            && place.getFirst().place() + 1 == line.place();
            if (!samePlace) {
                place.clear();
            }
            place.add(line);
            write(out, line);
            index.writeLong(offset);
            offset += length(line);
            run(line, follows, samePlace);
            count++;
        }

        /** Of several lines at one place the first is found, and a run ends. */
        private void run(Line line, boolean follows, boolean samePlace) {
            if (!samePlace) {
                first = follows ? first : line.place();
                TreeMap<Long, Run> known = runs.computeIfAbsent(line.chain(), _ -> new TreeMap<>());
                long number = follows ? known.lastEntry().getValue().number() : count;
                known.put(first, new Run(number, line.place()));
            }
        }
    }

    /** The lines of a group, in their order. */
    void each(int group, Consumer<Line> each) throws IOException {
        try (DataInputStream in = input(directory.resolve("sorted"))) {
            long left = offsets.length() / Long.BYTES;
            for (Line line; left > 0; left--) {
                line = read(in);
                if (line.chain().group() == group) {
                    each.accept(line);
                }
            }
        }
    }

    /** The line at a place. */
    Optional<Line> at(Chain chain, long place) throws IOException {
        var run = runs.getOrDefault(chain, new TreeMap<>()).floorEntry(place);
        if (run == null || run.getValue().last() < place) {
            return Optional.empty();
        }
        offsets.seek((run.getValue().number() + place - run.getKey()) * Long.BYTES);
        sorted.seek(offsets.readLong());
        return Optional.of(read(sorted));
    }

    /** The last place of a chain; 0 if it has none. */
    long last(Chain chain) {
        var run = runs.getOrDefault(chain, new TreeMap<>()).lastEntry();
        return run == null ? 0 : run.getValue().last();
    }

    /** A file of lines that are in order. */
    private static final class Piece implements Closeable {
        private final DataInputStream in;
        private Line head = new Line(new Chain(0, Optional.empty()), 0, "", "");

        private Piece(Path file) throws IOException {
            this.in = input(file);
        }

        private Line head() {
            return head;
        }

        private boolean next() throws IOException {
            in.mark(1);
            if (in.read() < 0) {
                return false;
            }
            in.reset();
            head = SortedLines.read(in);
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

    private static void write(DataOutputStream out, Line line) throws IOException {
        out.writeInt(line.chain().group());
        out.writeBoolean(line.chain().name().isPresent());
        write(out, line.chain().name().orElse(""));
        out.writeLong(line.place());
        write(out, line.origin());
        write(out, line.text());
    }

    private static long length(Line line) {
        return Integer.BYTES
                + 1
                + length(line.chain().name().orElse(""))
                + Long.BYTES
                + length(line.origin())
                + length(line.text());
    }

    private static long length(String text) {
        return Integer.BYTES + (long) text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static void write(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static Line read(DataInput in) throws IOException {
        int group = in.readInt();
        boolean named = in.readBoolean();
        String name = text(in);
        return new Line(
                new Chain(group, Optional.of(name).filter(_ -> named)),
                in.readLong(),
                text(in),
                text(in));
    }

    private static String text(DataInput in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
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
