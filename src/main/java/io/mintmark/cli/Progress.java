package io.mintmark.cli;

import java.io.Console;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A line on a terminal that shows the progress of a long command; nothing without a terminal. */
final class Progress {
    private static final String START_OF_LINE_AND_CLEAR = "\r\033[K";

    private final PrintStream terminal = System.err;
    private final boolean watched = isTerminal();

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

    void show(long count) {
        if (watched) {
            terminal.print(START_OF_LINE_AND_CLEAR + "%,d rows".formatted(count));
            terminal.flush();
        }
    }

    void clear() {
        if (watched) {
            terminal.print(START_OF_LINE_AND_CLEAR);
            terminal.flush();
        }
    }
}
