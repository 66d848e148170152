package io.mintmark.auditor.verify;

import org.jspecify.annotations.Nullable;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.BinaryOperator;

/**
 * Notes on mints, taken in any order and given mint by mint. They go to files by a hash of the
 * mint, so that memory doesn't grow with their number, and nobody can choose mints of one file.
 */
final class MintNotes implements AutoCloseable {
    private static final int FILES = 256;
    private static final int BYTES = 3 * Long.BYTES + 1;

    /** Bytes of notes that are collected in memory. */
    private static final long MOST = 50_000L * BYTES;

    private final long seed;
    private final int depth;
    private final Path directory;
    private final @Nullable DataOutputStream[] files = new DataOutputStream[FILES];

    /**
     * What is noted of a row, or of all rows of a mint.
     *
     * @param rows bits for the rows; those of one row fit in a byte
     * @param content a hash of what the row says of the mint
     */
    record Note(int rows, long content) {}

    MintNotes() throws IOException {
        this(new SecureRandom().nextLong(), 0);
    }

    /**
     * @param depth the byte of the hash that chooses the file
     */
    private MintNotes(long seed, int depth) throws IOException {
        this.seed = seed;
        this.depth = depth;
        this.directory = Files.createTempDirectory("mintmark-mints");
    }

    void add(UUID mint, Note note) throws IOException {
        int number = (int) (hash(mint) >>> (Byte.SIZE * depth)) & (FILES - 1);
        DataOutputStream file = files[number];
        if (file == null) {
            file =
                    new DataOutputStream(
                            new BufferedOutputStream(Files.newOutputStream(path(number))));
            files[number] = file;
        }
        file.writeLong(mint.getMostSignificantBits());
        file.writeLong(mint.getLeastSignificantBits());
        file.writeByte(note.rows());
        file.writeLong(note.content());
    }

    /** The finalizer of MurmurHash3, which spreads each bit over all. */
    private long hash(UUID mint) {
        long mixed = mix(mint.getMostSignificantBits() ^ seed);
        return mix(mixed ^ mint.getLeastSignificantBits());
    }

    private static long mix(long bits) {
        long mixed = (bits ^ (bits >>> 33)) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return mixed ^ (mixed >>> 33);
    }

    private Path path(int number) {
        return directory.resolve(Integer.toString(number));
    }

    /**
     * Gives each mint with its notes, the mints in any order.
     *
     * @param combine makes one note of two
     */
    void each(BinaryOperator<Note> combine, BiConsumer<UUID, Note> each) throws IOException {
        for (DataOutputStream file : files) {
            if (file != null) {
                file.close();
            }
        }
        for (int number = 0; number < FILES; number++) {
            if (files[number] != null) {
                if (Files.size(path(number)) > MOST && depth + 1 < Long.BYTES) {
                    split(path(number), combine, each);
                } else {
                    collect(path(number), combine, each);
                }
                Files.delete(path(number));
            }
        }
    }

    private void split(Path file, BinaryOperator<Note> combine, BiConsumer<UUID, Note> each)
            throws IOException {
        try (MintNotes further = new MintNotes(seed, depth + 1)) {
            read(file, further::add);
            further.each(combine, each);
        }
    }

    private static void collect(
            Path file, BinaryOperator<Note> combine, BiConsumer<UUID, Note> each)
            throws IOException {
        Map<UUID, Note> mints = new HashMap<>();
        read(file, (mint, note) -> mints.merge(mint, note, combine));
        mints.forEach(each);
    }

    private interface Sink {
        void add(UUID mint, Note note) throws IOException;
    }

    private static void read(Path file, Sink sink) throws IOException {
        try (DataInputStream in =
                new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            for (long left = Files.size(file) / BYTES; left > 0; left--) {
                sink.add(
                        new UUID(in.readLong(), in.readLong()),
                        new Note(in.readByte(), in.readLong()));
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (int number = 0; number < FILES; number++) {
            DataOutputStream file = files[number];
            if (file != null) {
                file.close();
                Files.deleteIfExists(path(number));
            }
        }
        Files.delete(directory);
    }
}
