package io.mintmark.auditor.reader;

import io.mintmark.audit.StoreUnreachable;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads a file line by line in bounded memory, whatever its content. */
final class BoundedLines {
    /**
     * The longest line that is read, in bytes without its end. A row of {@code audit.event} or
     * {@code audit.config_change} has at most 2 MiB by the bounds of its columns, and a checkpoint
     * is made with no more chains than fit.
     */
    static final int LONGEST = 4 * 1024 * 1024;

    private static final int BLOCK = 64 * 1024;

    private final Each each;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private boolean skipping;
    private long number = 1;

    /** Takes the lines of a file; numbers count from 1. */
    interface Each {
        /** A line without its end. */
        void line(byte[] bytes, long number) throws IOException;

        /** A line of more than {@link #LONGEST} bytes. */
        void tooLong(long number) throws IOException;
    }

    private BoundedLines(Each each) {
        this.each = each;
    }

    /**
     * Fails early where nothing can be read.
     *
     * @throws StoreUnreachable naming the file
     */
    static void requireReadable(Path file) {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new StoreUnreachable(
                    "the export can't be read: file '%s' doesn't exist or isn't readable"
                            .formatted(file),
                    false,
                    null);
        }
    }

    /**
     * Reads a file to its end. Bytes after the last newline are not a line.
     *
     * @return whether there are such bytes
     */
    static boolean read(Path file, Each each) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new BoundedLines(each).read(in);
        }
    }

    private boolean read(InputStream in) throws IOException {
        byte[] block = new byte[BLOCK];
        for (int size = in.read(block); size >= 0; size = in.read(block)) {
            int from = 0;
            for (int at = 0; at < size; at++) {
                if (block[at] == '\n') {
                    add(block, from, at);
                    end();
                    from = at + 1;
                }
            }
            add(block, from, size);
        }
        return skipping || line.size() > 0;
    }

    private void add(byte[] block, int from, int to) {
        if (line.size() + (to - from) > LONGEST) {
            skipping = true;
            line.reset();
        }
        if (!skipping) {
            line.write(block, from, to - from);
        }
    }

    private void end() throws IOException {
        if (skipping) {
            each.tooLong(number);
        } else {
            each.line(line.toByteArray(), number);
        }
        line.reset();
        skipping = false;
        number++;
    }
}
