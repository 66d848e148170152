package io.mintmark.cli;

import java.io.Console;
import java.io.PrintStream;
import java.util.Optional;

/** A line on a terminal that says how far a long command is. Nothing where nobody watches. */
final class Progress {
    private static final String START_OF_LINE_AND_CLEAR = "\r\033[K";

    private final PrintStream terminal = System.err;
    private final boolean watched =
            Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();

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
