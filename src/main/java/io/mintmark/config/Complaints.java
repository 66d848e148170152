package io.mintmark.config;

import java.util.LinkedHashSet;
import java.util.Set;

/** Gathers what is wrong, so that an operator is told of everything at one start. */
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
