package io.mintmark.base.output;

import java.io.Console;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** A line on a terminal that shows the progress of a long command; nothing without a terminal. */
public final class Progress {
    private static final String START_OF_LINE_AND_CLEAR = "\r\033[K";

    /** The pause between lines if output isn't a terminal, where lines can't be overwritten. */
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    private final PrintStream errors = System.err;
    private final boolean isTerminal = isTerminal();
    private final boolean watched;
    private final long begun = System.nanoTime();
    private long lines;

    public Progress() {
        this(false);
    }

    /**
     * @param watched whether it is shown without a terminal too, a line from time to time
     */
    public Progress(boolean watched) {
        this.watched = watched;
    }

    /**
     * Java only knows whether both standard input and output are terminals. Output is often a file
     * while standard error is a terminal.
     */
    private static boolean isTerminal() {
        try {
            Path errors = Files.readSymbolicLink(Path.of("/proc/self/fd/2"));
            return errors.startsWith("/dev/pts")
                    || errors.startsWith("/dev/tty")
                    || errors.startsWith("/dev/console");
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
        }
    }

    public void show(long count) {
        show(count, 0);
    }

    /**
     * Shows how far the command is.
     *
     * @param expected how many rows there are, about; 0 if unknown
     */
    public void show(long count, long expected) {
        Duration elapsed = Duration.ofNanos(System.nanoTime() - begun);
        if (isTerminal) {
            errors.print(START_OF_LINE_AND_CLEAR + text(count, expected, elapsed));
            errors.flush();
        } else if (watched && elapsed.compareTo(INTERVAL.multipliedBy(lines)) >= 0) {
            errors.println(text(count, expected, elapsed));
            lines = elapsed.dividedBy(INTERVAL) + 1;
        }
    }

    static String text(long count, long expected, Duration elapsed) {
        if (expected <= count) {
            return "%,d rows".formatted(count);
        }
        double share = (double) (expected - count) / count;
        Duration left = Duration.ofMillis((long) (elapsed.toMillis() * share));
        return "%,d of %,d rows, about %s left"
                .formatted(
                        count,
                        expected,
                        left.toHours() >= 2
                                ? left.toHours() + " hours"
                                : left.toMinutes() >= 2
                                        ? left.toMinutes() + " minutes"
                                        : left.toSeconds() + " seconds");
    }

    public void clear() {
        if (isTerminal) {
            errors.print(START_OF_LINE_AND_CLEAR);
            errors.flush();
        }
    }
}
