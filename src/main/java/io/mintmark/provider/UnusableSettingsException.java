package io.mintmark.provider;

/**
 * Settings of an access provider or a key that can't work. The message names the setting and says
 * what it must be; it holds no secret, since settings hold none.
 */
public final class UnusableSettingsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String message;

    public UnusableSettingsException(String message) {
        super(message);
        this.message = message;
    }

    @Override
    public String getMessage() {
        return message;
    }
}
