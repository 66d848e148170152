package io.mintmark.outbound;

/**
 * A reference leads to no secret. The message is the end of a sentence about the setting that it
 * stands in; it names the file and quotes nothing of it.
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
