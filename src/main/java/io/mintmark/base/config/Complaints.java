package io.mintmark.base.config;

import java.util.LinkedHashSet;
import java.util.Set;

/** Collects all errors, so that one start shows an operator everything that is wrong. */
final class Complaints {
    private final Set<String> gathered = new LinkedHashSet<>();

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
