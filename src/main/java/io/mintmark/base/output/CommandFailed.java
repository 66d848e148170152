package io.mintmark.base.output;

/** A command can't do its work. The message is one line that says why and what to do. */
public final class CommandFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CommandFailed(String message) {
        super(message);
    }
}
