package io.mintmark.logging;

import java.util.logging.LogManager;

/**
 * Keeps the log as it was set up until the process is gone. The platform's own manager takes the
 * log down when the process is told to stop, while requests are still being finished that belong in
 * it. Has to be named in the system property {@code java.util.logging.manager} before anything is
 * logged.
 */
public final class LastingLogManager extends LogManager {
    private volatile boolean isSetUp;

    /** From now on nothing takes the log down. */
    void keep() {
        isSetUp = true;
    }

    @Override
    public void reset() {
        if (!isSetUp) {
            super.reset();
        }
    }
}
