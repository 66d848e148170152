package io.mintmark.config;

/**
 * A password from the settings. It prints as a constant: even a short digest would let a reader of
 * logs try out guesses.
 */
public final class Password {
    static final Format<Password> FORMAT = Format.hidden("a password", Password::new);

    private final String text;

    public Password(String text) {
        this.text = text;
    }

    /** The password itself, for the one place that logs in with it. */
    public String reveal() {
        return text;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Password password && text.equals(password.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return "(hidden)";
    }
}
