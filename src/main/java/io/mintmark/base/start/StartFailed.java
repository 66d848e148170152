package io.mintmark.base.start;

/** The broker can't start. The message is one line that says why and what to do. */
public final class StartFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StartFailed(String message) {
        super(message);
    }
}
