package io.mintmark.base.pkcs11;

/**
 * A PKCS#11 token, or a key in it, can't be used now. The message names it and says why; it holds
 * no PIN.
 */
public final class TokenUnavailable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String message;
    private final boolean isOfKey;

    private TokenUnavailable(String message, boolean isOfKey) {
        super(message);
        this.message = message;
        this.isOfKey = isOfKey;
    }

    /** The token or its library can't be used. */
    static TokenUnavailable token(String message) {
        return new TokenUnavailable(message, false);
    }

    /** The token works, and doesn't have such a key. */
    static TokenUnavailable key(String message) {
        return new TokenUnavailable(message, true);
    }

    /** This failure once more, with the stack of the caller. */
    TokenUnavailable again() {
        return new TokenUnavailable(message, isOfKey);
    }

    /** Whether the token works and the key is what is wrong. */
    public boolean isOfKey() {
        return isOfKey;
    }

    @Override
    public String getMessage() {
        return message;
    }
}
