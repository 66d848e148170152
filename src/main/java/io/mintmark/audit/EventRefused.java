package io.mintmark.audit;

/** A row that the store won't take: a second outcome of a mint, or one that breaks a constraint. */
public final class EventRefused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public EventRefused(String message, Throwable cause) {
        super(message, cause);
    }
}
