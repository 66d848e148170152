package io.mintmark.base.tenant;

/** The name of a key, unique in its tenant: {@code ^[A-Za-z][A-Za-z0-9_.-]{0,63}$}. */
public record KeyName(String value) {
    public KeyName {
        Names.require("key", Names.NAMED, value);
    }

    /** Whether a text could name a key at all. */
    public static boolean isValid(String text) {
        return Names.NAMED.matcher(text).matches();
    }

    @Override
    public String toString() {
        return value;
    }
}
