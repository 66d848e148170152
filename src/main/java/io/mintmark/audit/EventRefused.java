package io.mintmark.audit;

/** The store rejects a row: a second outcome of a mint, or one that violates a constraint. */
public final class EventRefused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public EventRefused(String message, Throwable cause) {
        super(message, cause);
    }
}
