package io.mintmark.auditor.verify;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.Cosignature;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The cosignatures of a log, in the order of its trees and their sizes. They are copied to disk, so
 * that they can be read beside the checkpoints.
 */
final class StoredCosignatures implements AutoCloseable {
    /** Characters; a longer line than any cosignature has can't be read as one either. */
    private static final int LONGEST = 1_000;

    private static final Comparator<Placed> ORDER =
            Comparator.comparingLong(Placed::tree).thenComparingLong(Placed::size);

    private final ScratchFile file;
    private final DataInputStream in;
    private final Unnoted unnoted;
    private long left;
    private Optional<Placed> next;

    /**
     * A line about a tree.
     *
     * @param tree its number
     */
    private record Placed(long tree, long size, String line) {}

    /** Takes cosignatures of a tree that the log has no note of. */
    interface Unnoted {
        void accept(long tree, long size);
    }

    StoredCosignatures(LogReader log, Unnoted unnoted) {
        this.unnoted = unnoted;
        try {
            this.file = new ScratchFile();
            try (DataOutputStream out = new DataOutputStream(file.output())) {
                log.cosignatures(each -> write(each, out));
            }
            this.in = new DataInputStream(file.input());
            this.next = read();
        } catch (IOException | UncheckedIOException e) {
            throw failed(e);
        }
    }

    private void write(Cosignature cosignature, DataOutputStream out) {
        String line = cosignature.line();
        try {
            out.writeLong(cosignature.tree());
            out.writeLong(cosignature.size());
            out.writeUTF(line.length() > LONGEST ? "" : line);
            left++;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Optional<Placed> read() throws IOException {
        if (left == 0) {
            return Optional.empty();
        }
        left--;
        return Optional.of(new Placed(in.readLong(), in.readLong(), in.readUTF()));
    }

    /**
     * Passes the lines about a tree on; those about smaller ones before it belong to no note. To be
     * called in the order of the trees.
     */
    void each(long tree, long size, Consumer<String> line) {
        Placed sought = new Placed(tree, size, "");
        try {
            while (next.filter(it -> ORDER.compare(it, sought) <= 0).isPresent()) {
                Placed found = next.get();
                if (ORDER.compare(found, sought) == 0) {
                    line.accept(found.line());
                } else {
                    unnoted.accept(found.tree(), found.size());
                }
                next = read();
            }
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /** Handles the remaining cosignatures. Call this after the last tree. */
    void end() {
        each(Long.MAX_VALUE, Long.MAX_VALUE, _ -> {});
    }

    private static StoreUnreachable failed(Exception e) {
        return new StoreUnreachable("the cosignatures can't be copied to disk: " + e, false, e);
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw failed(e);
        }
    }
}
