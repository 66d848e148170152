package io.mintmark.auditor.verify;

import org.jspecify.annotations.Nullable;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
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
    private final @Nullable Notes[] files = new Notes[FILES];

    /**
     * A note on a row, or on all rows of a mint.
     *
     * @param rows bits for the rows; those of one row fit in a byte
     * @param content a hash of what the row says of the mint
     */
    record Note(int rows, long content) {}

    /** A file of notes. */
    private record Notes(ScratchFile file, DataOutputStream out) {
        Notes(ScratchFile file) {
            this(file, new DataOutputStream(file.output()));
        }
    }

    MintNotes() {
        this(new SecureRandom().nextLong(), 0);
    }

    /**
     * @param depth the byte of the hash that chooses the file
     */
    private MintNotes(long seed, int depth) {
        this.seed = seed;
        this.depth = depth;
    }

    void add(UUID mint, Note note) throws IOException {
        int number = (int) (hash(mint) >>> (Byte.SIZE * depth)) & (FILES - 1);
        Notes notes = files[number];
        if (notes == null) {
            notes = new Notes(new ScratchFile());
            files[number] = notes;
        }
        DataOutputStream file = notes.out();
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

    /**
     * Gives each mint with its notes, the mints in any order.
     *
     * @param combine makes one note of two
     */
    void each(BinaryOperator<Note> combine, BiConsumer<UUID, Note> each) throws IOException {
        for (Notes notes : files) {
            if (notes != null) {
                notes.out().flush();
            }
        }
        for (int number = 0; number < FILES; number++) {
            Notes notes = files[number];
            if (notes != null) {
                try (ScratchFile file = notes.file()) {
                    if (file.size() > MOST && depth + 1 < Long.BYTES) {
                        split(file, combine, each);
                    } else {
                        collect(file, combine, each);
                    }
                }
                files[number] = null;
            }
        }
    }

    private void split(ScratchFile file, BinaryOperator<Note> combine, BiConsumer<UUID, Note> each)
            throws IOException {
        try (MintNotes further = new MintNotes(seed, depth + 1)) {
            read(file, further::add);
            further.each(combine, each);
        }
    }

    private static void collect(
            ScratchFile file, BinaryOperator<Note> combine, BiConsumer<UUID, Note> each)
            throws IOException {
        Map<UUID, Note> mints = new HashMap<>();
        read(file, (mint, note) -> mints.merge(mint, note, combine));
        mints.forEach(each);
    }

    private interface Sink {
        void add(UUID mint, Note note) throws IOException;
    }

    private static void read(ScratchFile file, Sink sink) throws IOException {
        try (DataInputStream in = new DataInputStream(file.input())) {
            for (long left = file.size() / BYTES; left > 0; left--) {
                sink.add(
                        new UUID(in.readLong(), in.readLong()),
                        new Note(in.readByte(), in.readLong()));
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (Notes notes : files) {
            if (notes != null) {
                notes.file().close();
            }
        }
    }
}
