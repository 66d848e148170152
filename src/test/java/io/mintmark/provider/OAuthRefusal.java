package io.mintmark.provider;

/** What a token endpoint says instead of giving a token (RFC 6749 section 5.2). */
public final class OAuthRefusal extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String error;
    private final String description;

    public OAuthRefusal(int status, String error, String description) {
        super(error + ": " + description);
        this.status = status;
        this.error = error;
        this.description = description;
    }

    /** A request that breaks the rules that the server publishes. */
    public static OAuthRefusal invalid(String description) {
        return new OAuthRefusal(400, "invalid_request", description);
    }

    int status() {
        return status;
    }

    String error() {
        return error;
    }

    String description() {
        return description;
    }
}
