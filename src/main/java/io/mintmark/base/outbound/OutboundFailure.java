package io.mintmark.base.outbound;

import java.io.IOException;

/**
 * A provider gave no usable answer. The message names the host and the reason, for logs and
 * operators. It contains nothing that was sent or received, and no path or query.
 */
public final class OutboundFailure extends IOException {
    private static final long serialVersionUID = 1L;

    /** The kind of failure. */
    public enum Kind {
        /**
         * The URL is one that the broker would never request: not https, or with credentials in it.
         */
        ADDRESS_UNUSABLE,
        /** The host is where the broker may not connect to. */
        DESTINATION_REFUSED,
        /** The certificate authority that was configured can't be read. */
        AUTHORITY_UNREADABLE,
        /** The host's name is unknown, or the connection was refused: nothing was sent. */
        UNREACHABLE,
        /** The owner of the call, or all owners, have too much in flight: nothing was sent. */
        BUSY,
        /** The connection broke; the provider may have received the request. */
        CUT_OFF,
        /** The host did not prove its identity. */
        NOT_TRUSTED,
        /** The response wasn't complete in time. */
        TIMED_OUT,
        /** The response is a redirect. */
        REDIRECTED,
        /** The answer's status isn't 200. */
        STATUS,
        /** The response is larger than any valid response. */
        TOO_LARGE,
        /** The response is compressed, although that wasn't requested. */
        ENCODED
    }

    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;

    private final Kind kind;
    private final boolean mayPass;

    OutboundFailure(Kind kind, String message) {
        this(kind, message, mayPass(kind));
    }

    private OutboundFailure(Kind kind, String message, boolean mayPass) {
        super(message);
        this.kind = kind;
        this.mayPass = mayPass;
    }

    /** Too much is in flight to send anything. */
    public static OutboundFailure busy(String message) {
        return new OutboundFailure(Kind.BUSY, message);
    }

    /** An answer whose status isn't 200. */
    static OutboundFailure ofStatus(String host, int status) {
        return new OutboundFailure(
                Kind.STATUS,
                host + " answered with status " + status,
                status >= SERVER_ERROR || status == TOO_MANY_REQUESTS);
    }

    OutboundFailure(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.mayPass = mayPass(kind);
    }

    /**
     * Prefixes the message with the requested document.
     *
     * @param document such as "jwks_uri"
     */
    public OutboundFailure about(String document) {
        var failure = new OutboundFailure(kind, document + ": " + getMessage(), mayPass);
        failure.initCause(this);
        return failure;
    }

    public Kind kind() {
        return kind;
    }

    /**
     * Whether the same question may get another answer later, without a change of configuration.
     */
    public boolean mayPass() {
        return mayPass;
    }

    private static boolean mayPass(Kind kind) {
        return switch (kind) {
            case UNREACHABLE, BUSY, CUT_OFF, NOT_TRUSTED, TIMED_OUT -> true;
            case ADDRESS_UNUSABLE,
                    DESTINATION_REFUSED,
                    AUTHORITY_UNREADABLE,
                    REDIRECTED,
                    STATUS,
                    TOO_LARGE,
                    ENCODED ->
                    false;
        };
    }

    /** Whether the provider answered, though not as hoped; asking it something else may help. */
    public boolean answered() {
        return switch (kind) {
            case REDIRECTED, STATUS, TOO_LARGE, ENCODED -> true;
            case ADDRESS_UNUSABLE,
                    DESTINATION_REFUSED,
                    AUTHORITY_UNREADABLE,
                    UNREACHABLE,
                    BUSY,
                    CUT_OFF,
                    NOT_TRUSTED,
                    TIMED_OUT ->
                    false;
        };
    }
}
