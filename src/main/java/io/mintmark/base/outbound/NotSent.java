package io.mintmark.base.outbound;

/** A sender's reason to keep a request from being sent; it reaches the sender as it is. */
public abstract class NotSent extends RuntimeException {
    private static final long serialVersionUID = 1L;

    protected NotSent(String message) {
        super(message);
    }
}
