package io.mintmark.config;

/**
 * The broker can't be started like this. The message is one line that names the setting and says
 * what to write; it never holds the value of a secret one. It has no cause, because causes quote
 * what they could not read.
 */
public final class InvalidSettings extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public InvalidSettings(String message) {
        super(message);
    }
}
