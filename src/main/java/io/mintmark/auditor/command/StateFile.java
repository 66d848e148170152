package io.mintmark.auditor.command;

import io.mintmark.base.output.CommandFailed;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * The file that keeps an {@link ExportState}, for one export at a time. Whatever happens while it
 * is written, it holds the state of before or of after.
 */
final class StateFile implements AutoCloseable {
    private final Path file;
    private final Path next;
    private final FileChannel lock;

    /**
     * Locks the file until it is closed or the process ends.
     *
     * @throws CommandFailed if another export has locked it
     */
    StateFile(Path file) {
        this.file = file.toAbsolutePath();
        this.next = beside(".next");
        try {
            this.lock =
                    OwnerOnly.open(
                            beside(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (!isLocked(lock)) {
                lock.close();
                throw unfit("is in use by another export");
            }
        } catch (IOException e) {
            throw unfit("can't be used (%s)".formatted(e.getMessage()));
        }
    }

    private Path beside(String suffix) {
        return file.resolveSibling(file.getFileName() + suffix);
    }

    /** Whether the file is ours alone, against this process and others. */
    static boolean isLocked(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock();
            return lock != null && lock.isValid();
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    /** The state; empty before the first export. */
    Optional<ExportState> read() {
        try {
            return Optional.of(ExportState.read(Files.readString(file)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw unfit("can't be read (%s)".formatted(e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw unfit(String.valueOf(e.getMessage()));
        }
    }

    /** Writes the state; on disk when this method returns. */
    void write(ExportState state) {
        try {
            try (FileChannel channel =
                    OwnerOnly.open(
                            next,
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.TRUNCATE_EXISTING)) {
                ByteBuffer bytes = ByteBuffer.wrap(state.json().getBytes(StandardCharsets.UTF_8));
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            Files.move(
                    next,
                    file,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            forceDirectory(file);
        } catch (IOException e) {
            throw unfit(
                    "can't be written (%s); the next run exports the latest rows again"
                            .formatted(e.getMessage()));
        }
    }

    /** Forces a directory to disk, which makes the names in it durable. */
    static void forceDirectory(Path of) throws IOException {
        try (FileChannel directory =
                FileChannel.open(of.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    CommandFailed unfit(String why) {
        return new CommandFailed("--state: '%s' %s".formatted(file, why));
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}
