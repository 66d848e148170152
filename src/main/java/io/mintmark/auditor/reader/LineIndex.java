package io.mintmark.auditor.reader;

import io.mintmark.auditor.reader.PlacedLine.Place;
import io.mintmark.auditor.verify.ScratchFile;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
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

    /**
     * The number of bytes that are read at once to find a line's position. They suffice for nearly
     * every line.
     */
    private static final int HEAD = 256;

    private final ScratchFile sorted;
    private final ScratchFile offsets;

    /** The numbers of remembered lines, from 0. */
    private final NavigableMap<Place, Long> samples;

    private final long count;

    private LineIndex(
            ScratchFile sorted,
            ScratchFile offsets,
            NavigableMap<Place, Long> samples,
            long count) {
        this.sorted = sorted;
        this.offsets = offsets;
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

    /**
     * Guesses the number of a line. For places that don't exist, and for huge ones, the guess may
     * be outside of the file.
     */
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
    Optional<PlacedLine> read(long number) throws IOException {
        return number < 0 || number >= count
                ? Optional.empty()
                : Optional.of(PlacedLine.read(stream(number)));
    }

    /** Lines from a number on, for as long as they are wanted. */
    void from(long number, Predicate<PlacedLine> wanted) throws IOException {
        if (number < count) {
            try (DataInputStream in = new DataInputStream(sorted.input(offset(number), BUFFER))) {
                for (long left = count - number; left > 0; left--) {
                    if (!wanted.test(PlacedLine.read(in))) {
                        return;
                    }
                }
            }
        }
    }

    private Place place(long number) throws IOException {
        return Place.read(stream(number));
    }

    private DataInputStream stream(long number) throws IOException {
        return new DataInputStream(sorted.input(offset(number), HEAD));
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
        private final ScratchFile sorted;
        private final ScratchFile offsets;
        private final OutputStream lines;
        private final DataOutputStream index;
        private final ByteArrayOutputStream record = new ByteArrayOutputStream();
        private final NavigableMap<Place, Long> samples = new TreeMap<>();
        private long stride = 1;
        private long offset;
        private long count;

        Writer() throws IOException {
            this.sorted = new ScratchFile();
            this.offsets = new ScratchFile();
            this.lines = sorted.output();
            this.index = new DataOutputStream(offsets.output());
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

        /** The file of the lines alone, after the last. */
        ScratchFile lines() throws IOException {
            lines.flush();
            return sorted;
        }

        /** The index, which closes the files from now on. */
        LineIndex finish() throws IOException {
            lines.flush();
            index.flush();
            return new LineIndex(sorted, offsets, samples, count);
        }

        @Override
        public void close() throws IOException {
            sorted.close();
            offsets.close();
        }
    }
}
