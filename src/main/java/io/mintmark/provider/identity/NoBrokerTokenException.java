package io.mintmark.provider.identity;

/**
 * The broker's identity has no suitable token; the message says what to do, and contains no secret.
 */
public final class NoBrokerTokenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The reason why the broker has no token. */
    public enum Kind {
        /** The broker's settings don't allow a token. */
        MISCONFIGURED,
        /** The identity provider doesn't accept the broker, or its token has expired. */
        REJECTED,
        /** The identity provider can't be reached. */
        UNREACHABLE,
        /** The identity provider didn't answer in time. */
        TIMED_OUT,
        /** The identity provider asks for fewer calls. */
        THROTTLED,
        /** Any other failure of the identity provider. */
        FAILED
    }

    private final Kind kind;
    private final String message;

    public NoBrokerTokenException(String message) {
        this(Kind.MISCONFIGURED, message);
    }

    public NoBrokerTokenException(Kind kind, String message) {
        super(message);
        this.kind = kind;
        this.message = message;
    }

    public Kind kind() {
        return kind;
    }

    @Override
    public String getMessage() {
        return message;
    }
}
