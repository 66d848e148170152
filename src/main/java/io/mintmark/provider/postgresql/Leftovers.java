package io.mintmark.provider.postgresql;

import java.util.Arrays;
import java.util.Locale;

/** The treatment of objects that a login still owns when it ends. */
enum Leftovers {
    /** They and their owner stay. The owner can't log in and has no rights but over them. */
    KEEP,
    /** They are dropped, with their data. */
    DROP,
    /** They become the property of the key's role. */
    GIVE;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** By its word; unknown words keep. */
    static Leftovers named(String word) {
        return Arrays.stream(values())
                .filter(each -> each.word().equals(word))
                .findFirst()
                .orElse(KEEP);
    }
}
