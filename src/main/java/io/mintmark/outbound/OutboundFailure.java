package io.mintmark.outbound;

import java.io.IOException;

/**
 * A provider gave no usable answer. The message says which host and why, for logs and operators;
 * nothing of what was sent or received stands in it, nor a path or query.
 */
public final class OutboundFailure extends IOException {
    private static final long serialVersionUID = 1L;

    /** What went wrong. */
    public enum Kind {
        /** The address is none that the broker would ever ask: not https, credentials in it. */
        ADDRESS_UNUSABLE,
        /** The host is where the broker may not connect to. */
        DESTINATION_REFUSED,
        /** The certificate authority that was configured can't be read. */
        AUTHORITY_UNREADABLE,
        /** The host's name isn't known, or nobody listens: nothing was sent. */
        UNREACHABLE,
        /** The connection broke; whether the provider had the request nobody knows. */
        CUT_OFF,
        /** The host didn't prove to be itself. */
        NOT_TRUSTED,
        /** The whole answer wasn't there in time. */
        TIMED_OUT,
        /** The answer says to ask elsewhere. */
        REDIRECTED,
        /** The answer's status isn't 200. */
        STATUS,
        /** The answer is larger than any of its sort should be. */
        TOO_LARGE,
        /** The answer is compressed, though nobody asked for that. */
        ENCODED
    }

    private final Kind kind;

    OutboundFailure(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    OutboundFailure(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }

    /** Whether the provider answered, though not as hoped; asking it something else may help. */
    public boolean answered() {
        return switch (kind) {
            case REDIRECTED, STATUS, TOO_LARGE, ENCODED -> true;
            case ADDRESS_UNUSABLE,
                    DESTINATION_REFUSED,
                    AUTHORITY_UNREADABLE,
                    UNREACHABLE,
                    CUT_OFF,
                    NOT_TRUSTED,
                    TIMED_OUT ->
                    false;
        };
    }
}
