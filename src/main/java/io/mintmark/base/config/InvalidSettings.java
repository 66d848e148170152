package io.mintmark.base.config;

import java.util.Collection;
import java.util.List;

/**
 * The broker can't be started like this. Each complaint is one line that names the setting and says
 * what to write; none ever holds the value of a secret one. It has no cause, because causes quote
 * what they could not read.
 */
public final class InvalidSettings extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public InvalidSettings(String complaint) {
        this(List.of(complaint));
    }

    /**
     * @param complaints at least one
     */
    InvalidSettings(Collection<String> complaints) {
        super(String.join("\n", complaints));
    }

    /** All that is wrong, as far as it could be found out at once. */
    public List<String> complaints() {
        return String.valueOf(getMessage()).lines().toList();
    }
}
