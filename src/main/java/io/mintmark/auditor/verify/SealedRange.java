package io.mintmark.auditor.verify;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A part of a log: the rows that were sealed between two checkpoints, with all changes of the
 * configuration up to the second one.
 *
 * @param after the number of the checkpoint that the part begins after; 0: with the log
 * @param upTo the number of its last checkpoint
 */
public record SealedRange(long after, long upTo) {
    private static final Pattern LINE =
            Pattern.compile("\\{\"part\":\\{\"after\":([0-9]{1,18}),\"up_to\":([0-9]{1,18})}}");

    /** The part that a line of an export says it is. */
    public static Optional<SealedRange> in(String line) {
        Matcher parts = LINE.matcher(line);
        return parts.matches()
                ? Optional.of(
                        new SealedRange(
                                Long.parseLong(parts.group(1)), Long.parseLong(parts.group(2))))
                : Optional.empty();
    }

    /** One line of JSON, the first of an export. */
    public String line() {
        return "{\"part\":{\"after\":%d,\"up_to\":%d}}".formatted(after, upTo);
    }

    /** Whether a checkpoint seals rows of the part. */
    public boolean has(long checkpoint) {
        return after < checkpoint && checkpoint <= upTo;
    }
}
