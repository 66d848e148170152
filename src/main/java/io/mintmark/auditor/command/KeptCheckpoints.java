package io.mintmark.auditor.command;

import io.mintmark.audit.checkpoint.CheckpointLines;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.output.CommandFailed;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Checkpoints that were kept elsewhere: lines of a broker's output, among others. The broker may go
 * on writing: only those count that are there at first, since what is compared with them is the log
 * of a moment after that.
 */
public final class KeptCheckpoints {
    private final @Nullable Path file;
    private final long count;

    /**
     * Counts those of a file; none without a file.
     *
     * @throws CommandFailed if the file holds none, or is a pipe, since then it proves nothing
     */
    public KeptCheckpoints(@Nullable Path file) {
        if (file != null && Files.exists(file) && !Files.isRegularFile(file)) {
            throw unfit(file, "is not a regular file; pass a file instead of a pipe");
        }
        this.file = file;
        this.count = file == null ? 0 : lines(file, Stream::count);
        if (file != null && count == 0) {
            throw unfit(
                    file,
                    "holds no checkpoint, so it would prove nothing; pass lines of the broker's output such as {\"checkpoint\":7,…}");
        }
    }

    /**
     * Reads all of them.
     *
     * @throws CommandFailed if they can't be read, or aren't all there any more
     */
    public <T> T read(Function<Stream<SignedCheckpoint>, T> use) {
        if (file == null) {
            return use.apply(Stream.empty());
        }
        LongAdder read = new LongAdder();
        T used = lines(file, all -> use.apply(all.limit(count).peek(_ -> read.increment())));
        if (read.sum() < count) {
            throw unfit(
                    file,
                    "was truncated during the run, so the result proves nothing; run the command again");
        }
        return used;
    }

    /** Checkpoints are ASCII; what else is in the file needn't be text at all. */
    private static <T> T lines(Path file, Function<Stream<SignedCheckpoint>, T> use) {
        try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
            CheckpointLines checkpoints = new CheckpointLines();
            return use.apply(lines.flatMap(line -> checkpoints.next(line).stream()));
        } catch (IOException | UncheckedIOException e) {
            throw unfit(file, "can't be read (%s)".formatted(e));
        }
    }

    private static CommandFailed unfit(Path file, String why) {
        return new CommandFailed("--checkpoints: '%s' %s".formatted(file, why));
    }
}
