package io.mintmark.base.logging;

import java.util.logging.LogManager;

/**
 * Keeps the logging configuration until the process ends. The platform's own manager resets it when
 * the process is told to stop, while the last requests still need it. It must be named in the
 * system property {@code java.util.logging.manager} before anything is logged.
 */
public final class LastingLogManager extends LogManager {
    private volatile boolean isSetUp;

    /** Protects the logging configuration from resets from now on. */
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
