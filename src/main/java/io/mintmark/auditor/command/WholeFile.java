package io.mintmark.auditor.command;

import io.mintmark.base.output.CommandFailed;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * The output of an export that can't be resumed: a file that gets its name when it is complete, so
 * that a failed export leaves an older file as it was; or standard output.
 */
final class WholeFile implements AutoCloseable {
    private final Path target;

    /** The new file until it is complete; empty where rows go to a pipe or a device. */
    private final Optional<Path> partial;

    private final PrintStream out;

    /**
     * @throws CommandFailed if it can't be written
     */
    WholeFile(Path output) {
        this.target = output.toAbsolutePath();
        try {
            boolean replaces = !Files.exists(target) || Files.isRegularFile(target);
            this.partial =
                    replaces ? Optional.of(OwnerOnly.createBeside(real())) : Optional.empty();
            this.out = printing(Files.newOutputStream(partial.orElse(target)));
        } catch (IOException e) {
            throw new CommandFailed("--output: '%s' can't be written (%s)".formatted(output, e));
        }
    }

    static PrintStream printing(OutputStream stream) {
        return new PrintStream(new BufferedOutputStream(stream), false, StandardCharsets.UTF_8);
    }

    /** The actual file behind links, so that a link isn't replaced by a file. */
    private Path real() throws IOException {
        return Files.exists(target) ? target.toRealPath() : target;
    }

    PrintStream out() {
        return out;
    }

    /** Completes the file and gives it its final name. Call this after the last row. */
    void complete() throws IOException {
        out.close();
        if (out.checkError()) {
            throw new CommandFailed("--output: the file is incomplete; run the command again");
        }
        if (partial.isPresent()) {
            Files.move(
                    partial.get(),
                    real(),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        }
    }

    @Override
    public void close() throws IOException {
        out.close();
        if (partial.isPresent()) {
            var _ = Files.deleteIfExists(partial.get());
        }
    }
}
