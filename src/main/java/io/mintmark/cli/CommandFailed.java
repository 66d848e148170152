package io.mintmark.cli;

/** A command can't do its work. The message is one line that says why and what to do. */
final class CommandFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CommandFailed(String message) {
        super(message);
    }
}
