package io.mintmark.broker.identity;

/** The broker can't sign with the keys it was given; the message is one sentence on what to do. */
public final class UnusableSigningKeysException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnusableSigningKeysException(String message) {
        super(message);
    }
}
