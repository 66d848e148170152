package io.mintmark.identity;

/** The broker's identity has no token of the kind asked for; the message says what to do. */
public final class NoBrokerTokenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String message;

    NoBrokerTokenException(String message) {
        super(message);
        this.message = message;
    }

    @Override
    public String getMessage() {
        return message;
    }
}
