package io.mintmark.cli;

import io.mintmark.audit.SignedCheckpoint;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.stream.Stream;

/** Checkpoints that were kept elsewhere: lines of a broker's output, among others. */
final class KeptCheckpoints {
    private KeptCheckpoints() {}

    /**
     * Reads those of a file; none without a file.
     *
     * @throws CommandFailed if the file holds none, since then it proves nothing
     */
    static <T> T read(@Nullable Path file, Function<Stream<SignedCheckpoint>, T> use) {
        if (file == null) {
            return use.apply(Stream.empty());
        }
        if (lines(file, all -> all.findAny().isEmpty())) {
            throw unfit(file, "holds no checkpoint");
        }
        return lines(file, use);
    }

    /** Checkpoints are ASCII; what else is in the file needn't be text at all. */
    private static <T> T lines(Path file, Function<Stream<SignedCheckpoint>, T> use) {
        try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
            return use.apply(lines.flatMap(line -> SignedCheckpoint.in(line).stream()));
        } catch (IOException e) {
            throw unfit(file, "can't be read");
        }
    }

    private static CommandFailed unfit(Path file, String why) {
        return new CommandFailed(
                ("--checkpoints: '%s' %s, so nothing would be proven with it; give it lines of the"
                                + " broker's output such as {\"checkpoint\":7,…}")
                        .formatted(file, why));
    }
}
