package io.mintmark.base.config;

import java.util.LinkedHashSet;
import java.util.Set;

/** Collects all errors, so that one start shows an operator everything that is wrong. */
final class Complaints {
    private final Set<String> gathered = new LinkedHashSet<>();

    /** As many as there are now; what is added to one isn't in the other. */
    Complaints copy() {
        Complaints copy = new Complaints();
        copy.gathered.addAll(gathered);
        return copy;
    }

    void add(String complaint) {
        gathered.add(complaint);
    }

    /** Does something, and keeps what it complains of. */
    void from(Runnable reading) {
        try {
            reading.run();
        } catch (InvalidSettings e) {
            gathered.addAll(e.complaints());
        }
    }

    /**
     * @throws InvalidSettings if there was anything
     */
    void raise() {
        if (!gathered.isEmpty()) {
            throw new InvalidSettings(gathered);
        }
    }
}
