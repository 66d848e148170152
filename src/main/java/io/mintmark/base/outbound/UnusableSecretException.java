package io.mintmark.base.outbound;

/**
 * The secret that a setting refers to can't be read. The message completes a sentence about that
 * setting; it names the file and quotes nothing of it.
 */
public final class UnusableSecretException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String message;

    UnusableSecretException(String message) {
        super(message);
        this.message = message;
    }

    @Override
    public String getMessage() {
        return message;
    }
}
