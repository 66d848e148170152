package io.mintmark.auditor.command;

import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.output.CommandFailed;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.Optional;

/** The destination of an export that can be resumed. */
abstract sealed class ExportSink implements AutoCloseable {
    private final StringBuilder waiting = new StringBuilder();

    /** Writes lines, including their newlines. */
    final void write(String lines) {
        waiting.append(lines);
    }

    /** The number of characters that are not yet written to their destination. */
    final int waiting() {
        return waiting.length();
    }

    /** Drops everything that isn't written to its destination yet. */
    final void drop() {
        waiting.setLength(0);
    }

    /**
     * Sees to it that everything taken so far is where it belongs.
     *
     * @return up to where the file counts; none for standard output
     * @throws CommandFailed if that can't be done
     */
    final Optional<ExportState.Output> commit() {
        byte[] bytes = waiting.toString().getBytes(StandardCharsets.UTF_8);
        waiting.setLength(0);
        try {
            return flush(bytes);
        } catch (IOException e) {
            throw new CommandFailed(
                    "--output: the file is incomplete (%s); nothing is lost: run the command again"
                            .formatted(e.getMessage()));
        }
    }

    abstract Optional<ExportState.Output> flush(byte[] bytes) throws IOException;

    @Override
    public abstract void close() throws IOException;

    /** Standard output: after a restart, its reader may see rows again that were written before. */
    static final class Stream extends ExportSink {
        private final PrintStream out;

        Stream(PrintStream out) {
            this.out = out;
        }

        @Override
        Optional<ExportState.Output> flush(byte[] bytes) throws IOException {
            out.write(bytes);
            if (out.checkError()) {
                throw new IOException("the reader closed the pipe");
            }
            return Optional.empty();
        }

        @Override
        public void close() {}
    }

    /**
     * A file. Before anything is added, it is truncated to the length that the state file confirms.
     */
    static final class File extends ExportSink {
        /** The number of a file's last bytes by which the file is recognized. */
        private static final long ENDING = 4_096;

        private final Path path;
        private final FileChannel channel;
        private final OutputStream out;

        /**
         * @param before what the last run wrote to, this file or another
         */
        File(Path path, Optional<ExportState.Output> before) {
            this.path = path.toAbsolutePath();
            boolean same =
                    before.filter(last -> last.path().equals(this.path.toString())).isPresent();
            try {
                requireFile(same);
                this.channel =
                        OwnerOnly.open(
                                path,
                                StandardOpenOption.CREATE,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                this.out = Channels.newOutputStream(channel);
                take(before.filter(_ -> same));
                if (!same) {
                    StateFile.forceDirectory(this.path);
                    cut(before);
                }
            } catch (IOException e) {
                throw unfit("can't be written (%s)".formatted(e.getMessage()));
            }
        }

        private void requireFile(boolean same) {
            if (Files.exists(path) && !Files.isRegularFile(path)) {
                throw unfit(
                        "is not a regular file; without --output, rows go to standard " + "output");
            }
            if (same && !Files.exists(path)) {
                throw unfit(
                        "is missing, but the state file refers to it; restore the file, or pass another file");
            }
        }

        /**
         * Locks the file, and cuts it to where it counts.
         *
         * @param same what the state says of it, if it was the last run's
         */
        private void take(Optional<ExportState.Output> same) throws IOException {
            long length = same.map(ExportState.Output::length).orElse(0L);
            if (!StateFile.isLocked(channel)) {
                channel.close();
                throw unfit("is in use by another export");
            }
            if (same.isEmpty() && channel.size() > 0) {
                throw unfit(
                        "has content that no earlier run of this export wrote; pass another file");
            }
            if (channel.size() < length) {
                throw unfit(
                        "has %d bytes, but the state file says %d: content was removed; restore the file, or pass another file"
                                .formatted(channel.size(), length));
            }
            if (same.isPresent() && !ending(channel, length).equals(same.get().ending())) {
                throw unfit(
                        "no longer ends with what the last run wrote; restore the file, or pass another file");
            }
            channel.truncate(length);
            channel.position(length);
            channel.force(true);
        }

        /**
         * An unfinished part that the last run wrote to another file is written to this one. A file
         * that has that name by now but is in use, or holds something else, is left as it is.
         */
        private static void cut(Optional<ExportState.Output> before) throws IOException {
            Optional<ExportState.Output> begun =
                    before.filter(last -> last.length() > 0)
                            .filter(last -> Files.isRegularFile(Path.of(last.path())));
            if (begun.isEmpty()) {
                return;
            }
            ExportState.Output last = begun.get();
            try (FileChannel old =
                    FileChannel.open(
                            Path.of(last.path()),
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE)) {
                if (StateFile.isLocked(old)
                        && old.size() > last.length()
                        && ending(old, last.length()).equals(last.ending())) {
                    old.truncate(last.length());
                    old.force(true);
                }
            }
        }

        /** SHA-256 of the last bytes before a place, in hexadecimal digits. */
        private static String ending(FileChannel file, long length) throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(length, ENDING));
            long start = length - bytes.capacity();
            while (bytes.hasRemaining() && file.read(bytes, start + bytes.position()) >= 0) {
                // reads on
            }
            return HexFormat.of().formatHex(CanonicalForm.sha256().digest(bytes.array()));
        }

        @Override
        Optional<ExportState.Output> flush(byte[] bytes) throws IOException {
            out.write(bytes);
            channel.force(true);
            long length = channel.position();
            return Optional.of(
                    new ExportState.Output(path.toString(), length, ending(channel, length)));
        }

        private CommandFailed unfit(String why) {
            return new CommandFailed("--output: '%s' %s".formatted(path, why));
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
