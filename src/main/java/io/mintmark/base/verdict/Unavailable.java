package io.mintmark.base.verdict;

import java.time.Duration;

/**
 * Something that the broker needs is temporarily unavailable: 503 {@code SERVICE_UNAVAILABLE}.
 * Clients see the message: it says what is missing in the interface's terms, without internals.
 */
public final class Unavailable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The unavailable component, or the one whose limit is reached. */
    public enum Part {
        /** The database, as this replica reaches it. */
        DATABASE,
        /** This replica: its clock, its writer. */
        REPLICA,
        /** An issuer's signing keys. */
        ISSUER,
        /** A tenant's limits, rows or changes. */
        TENANT
    }

    private final Duration retryAfter;
    private final Part part;

    /**
     * @param message a sentence that a client may read
     * @param retryAfter when it is worth to ask again; at least a second
     */
    public Unavailable(Part part, String message, Duration retryAfter, Throwable cause) {
        super(message, cause);
        this.retryAfter = retryAfter;
        this.part = part;
    }

    /** Reports a part that is unavailable, where nothing was thrown. */
    public Unavailable(Part part, String message, Duration retryAfter) {
        super(message);
        this.retryAfter = retryAfter;
        this.part = part;
    }

    /** Reports that a tenant can't be served. */
    public Unavailable(String message, Duration retryAfter) {
        this(Part.TENANT, message, retryAfter);
    }

    public Part part() {
        return part;
    }

    public Duration retryAfter() {
        return retryAfter;
    }
}
