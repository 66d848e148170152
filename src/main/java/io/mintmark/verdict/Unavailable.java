package io.mintmark.verdict;

import java.time.Duration;

/**
 * Something that the broker needs is not there for now: 503 {@code SERVICE_UNAVAILABLE}. The
 * message is shown to clients: it says what is missing in the interface's terms, never how.
 */
public final class Unavailable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Duration retryAfter;

    /**
     * @param message a sentence that a client may read
     * @param retryAfter when it is worth to ask again; at least a second
     */
    public Unavailable(String message, Duration retryAfter, Throwable cause) {
        super(message, cause);
        this.retryAfter = retryAfter;
    }

    /** The same, where nothing was thrown. */
    public Unavailable(String message, Duration retryAfter) {
        super(message);
        this.retryAfter = retryAfter;
    }

    public Duration retryAfter() {
        return retryAfter;
    }
}
