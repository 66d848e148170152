package io.mintmark.audit;

import org.jspecify.annotations.Nullable;

/** The store can't be asked, or didn't answer in time. */
public sealed class StoreUnreachable extends RuntimeException
        permits StoreLocked, UnacknowledgedLoss {
    private static final long serialVersionUID = 1L;

    private final boolean perhapsCommitted;

    /**
     * @param perhapsCommitted whether the rows may have been committed, for example because the
     *     connection broke during the commit
     */
    public StoreUnreachable(String message, boolean perhapsCommitted, @Nullable Throwable cause) {
        super(message, cause);
        this.perhapsCommitted = perhapsCommitted;
    }

    public boolean perhapsCommitted() {
        return perhapsCommitted;
    }
}
