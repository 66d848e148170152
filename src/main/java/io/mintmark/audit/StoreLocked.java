package io.mintmark.audit;

/** The store's tables are locked by another session; the message names it. Nothing was written. */
public final class StoreLocked extends StoreUnreachable {
    private static final long serialVersionUID = 1L;

    public StoreLocked(String message, Throwable cause) {
        super(message, false, cause);
    }
}
