package io.mintmark.provider.postgresql;

import java.util.Arrays;
import java.util.Locale;

/** The treatment of objects that a login still owns when it ends. */
enum Leftovers {
    /**
     * The objects and their owner are kept. The owner can't log in and has no rights except on
     * them.
     */
    KEEP,
    /** The objects are dropped, with their data. */
    DROP,
    /** The objects become the property of the key's role. */
    GIVE;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The value of this name; {@link #KEEP} for an unknown name. */
    static Leftovers named(String word) {
        return Arrays.stream(values())
                .filter(each -> each.word().equals(word))
                .findFirst()
                .orElse(KEEP);
    }
}
