package io.mintmark.auditor.reader;

import io.mintmark.auditor.reader.PlacedLine.Place;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Finds lines in a sorted file by their places, in constant memory: every n-th place is remembered,
 * and n grows with the file. Places of a chain mostly follow one another, so the number of a line
 * is guessed from the nearest remembered one; only a wrong guess costs a search on disk.
 */
final class LineIndex implements AutoCloseable {
    private static final int SAMPLES = 16_384;
    private static final int BUFFER = 32 * 1024;

    /** Bytes that hold the place of nearly every line, and are read at once. */
    private static final int HEAD = 256;

    private final Path file;
    private final FileChannel sorted;
    private final FileChannel offsets;

    /** The numbers of remembered lines, from 0. */
    private final NavigableMap<Place, Long> samples;

    private final long count;

    private LineIndex(Path file, Path offsets, NavigableMap<Place, Long> samples, long count)
            throws IOException {
        this.file = file;
        this.sorted = FileChannel.open(file);
        this.offsets = FileChannel.open(offsets);
        this.samples = samples;
        this.count = count;
    }

    /** The number of the first line at a place or behind it. */
    long first(Place place) throws IOException {
        Map.Entry<Place, Long> before = samples.lowerEntry(place);
        Map.Entry<Place, Long> behind = samples.ceilingEntry(place);
        long from = before == null ? 0 : before.getValue();
        long to = behind == null ? count : behind.getValue();
        long guess = before == null ? 0 : guess(before, place);
        if (from < guess
                && guess < to
                && place(guess).compareTo(place) >= 0
                && place(guess - 1).compareTo(place) < 0) {
            return guess;
        }
        while (from < to) {
            long middle = (from + to) >>> 1;
            if (place(middle).compareTo(place) < 0) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    /** Of places that don't exist, and of huge ones, the guess is outside of the file. */
    private static long guess(Map.Entry<Place, Long> before, Place place) {
        return before.getKey().chain().equals(place.chain())
                ? before.getValue() + (place.at() - before.getKey().at())
                : -1;
    }

    /** The first line at a place. */
    Optional<PlacedLine> at(Place place) throws IOException {
        return read(first(place)).filter(line -> line.place().equals(place));
    }

    /** A line by its number; none outside of the file. */
    synchronized Optional<PlacedLine> read(long number) throws IOException {
        return number < 0 || number >= count
                ? Optional.empty()
                : Optional.of(PlacedLine.read(stream(number)));
    }

    /** Lines from a number on, for as long as they are wanted. */
    void from(long number, Predicate<PlacedLine> wanted) throws IOException {
        if (number < count) {
            try (DataInputStream in =
                    new DataInputStream(
                            new BufferedInputStream(Files.newInputStream(file), BUFFER))) {
                in.skipNBytes(offset(number));
                for (long left = count - number; left > 0; left--) {
                    if (!wanted.test(PlacedLine.read(in))) {
                        return;
                    }
                }
            }
        }
    }

    private synchronized Place place(long number) throws IOException {
        return Place.read(stream(number));
    }

    private DataInputStream stream(long number) throws IOException {
        sorted.position(offset(number));
        return new DataInputStream(new BufferedInputStream(Channels.newInputStream(sorted), HEAD));
    }

    private long offset(long number) throws IOException {
        ByteBuffer offset = ByteBuffer.allocate(Long.BYTES);
        offsets.read(offset, number * Long.BYTES);
        return offset.flip().getLong();
    }

    @Override
    public void close() throws IOException {
        sorted.close();
        offsets.close();
    }

    /** Writes the files of an index, line by line in their order. */
    static final class Writer implements AutoCloseable {
        private final Path sorted;
        private final Path offsets;
        private final OutputStream lines;
        private final DataOutputStream index;
        private final ByteArrayOutputStream record = new ByteArrayOutputStream();
        private final NavigableMap<Place, Long> samples = new TreeMap<>();
        private long stride = 1;
        private long offset;
        private long count;

        Writer(Path directory, String name) throws IOException {
            this.sorted = directory.resolve(name);
            this.offsets = directory.resolve(name + "-offsets");
            this.lines = output(sorted);
            this.index = new DataOutputStream(output(offsets));
        }

        private static OutputStream output(Path file) throws IOException {
            return new BufferedOutputStream(Files.newOutputStream(file), BUFFER);
        }

        void add(PlacedLine line) throws IOException {
            index.writeLong(offset);
            line.write(new DataOutputStream(record));
            offset += record.size();
            record.writeTo(lines);
            record.reset();
            if (count % stride == 0) {
                sample(line.place());
            }
            count++;
        }

        private void sample(Place place) {
            samples.putIfAbsent(place, count);
            if (samples.size() >= SAMPLES) {
                stride *= 2;
                samples.values().removeIf(number -> number % stride != 0);
            }
        }

        /** The file of the lines alone. */
        Path lines() {
            return sorted;
        }

        LineIndex finish() throws IOException {
            close();
            return new LineIndex(sorted, offsets, samples, count);
        }

        @Override
        public void close() throws IOException {
            lines.close();
            index.close();
        }
    }
}
