package io.mintmark.auditor.command;

import io.mintmark.base.output.CommandFailed;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** The destination of an export that can be resumed. */
abstract sealed class ExportSink implements AutoCloseable {
    private final StringBuilder waiting = new StringBuilder();

    /** Takes lines, with their ends. */
    final void write(String lines) {
        waiting.append(lines);
    }

    /** How much of it isn't where it belongs yet, in characters. */
    final int waiting() {
        return waiting.length();
    }

    /** Forgets what isn't where it belongs yet. */
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
                    "--output: the file is incomplete (%s); nothing is lost, run it again"
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

    /** A file, which is cut to where it counts before anything is added. */
    static final class File extends ExportSink {
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
            long length = same ? before.orElseThrow().length() : 0;
            try {
                requireFile(same);
                this.channel =
                        OwnerOnly.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                this.out = Channels.newOutputStream(channel);
                take(length, same);
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
                        "is gone, but the state file refers to it; restore it, or pass "
                                + "another file");
            }
        }

        private void take(long length, boolean same) throws IOException {
            if (!StateFile.isLocked(channel)) {
                channel.close();
                throw unfit("is in use by another export");
            }
            if (!same && channel.size() > 0) {
                throw unfit("has content that the state file doesn't know; pass another file");
            }
            if (channel.size() < length) {
                throw unfit(
                        ("has %d bytes, but the state file says %d: content was removed; "
                                        + "restore it, or pass another file")
                                .formatted(channel.size(), length));
            }
            channel.truncate(length);
            channel.position(length);
            channel.force(true);
        }

        /** An unfinished part that the last run wrote to another file is written to this one. */
        private static void cut(Optional<ExportState.Output> before) throws IOException {
            Optional<Path> file =
                    before.map(last -> Path.of(last.path())).filter(Files::isRegularFile);
            if (file.isPresent()) {
                try (FileChannel old = FileChannel.open(file.get(), StandardOpenOption.WRITE)) {
                    old.truncate(before.orElseThrow().length());
                    old.force(true);
                }
            }
        }

        @Override
        Optional<ExportState.Output> flush(byte[] bytes) throws IOException {
            out.write(bytes);
            channel.force(true);
            return Optional.of(new ExportState.Output(path.toString(), channel.position()));
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
