package io.mintmark.base.config;

import java.util.LinkedHashSet;
import java.util.Set;

/** Collects all errors, so that one start shows an operator everything that is wrong. */
final class Complaints {
    private final Set<String> gathered = new LinkedHashSet<>();

    /** Returns an independent copy, to which further complaints can be added. */
    Complaints copy() {
        Complaints copy = new Complaints();
        copy.gathered.addAll(gathered);
        return copy;
    }

    void add(String complaint) {
        gathered.add(complaint);
    }

    /** Runs the code and collects the errors that it throws. */
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
