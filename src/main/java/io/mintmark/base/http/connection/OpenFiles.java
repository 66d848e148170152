package io.mintmark.base.http.connection;

import com.sun.management.UnixOperatingSystemMXBean;

import io.mintmark.base.config.InvalidSettings;

import java.lang.management.ManagementFactory;

/**
 * The process's limit of open files. A server that reaches it stops listening permanently while
 * everything else looks healthy, so the broker must not reach it.
 */
public final class OpenFiles {
    /** The number of files for the database, access providers, libraries and the JVM itself. */
    private static final int OTHERS = 256;

    private OpenFiles() {}

    /**
     * Checks the limit, where the system has one.
     *
     * @throws InvalidSettings if it is too low for so many connections
     */
    public static void requireEnough(int connections) {
        if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean os) {
            requireEnough(connections, os.getMaxFileDescriptorCount());
        }
    }

    static void requireEnough(int connections, long limit) {
        if (connections + OTHERS > limit) {
            throw new InvalidSettings(
                    "SERVER_MAX_CONNECTIONS needs %d open files, but the process may open only"
                                    .formatted(connections + OTHERS)
                            + " %d: lower the setting, or raise the limit (ulimit -n)"
                                    .formatted(limit));
        }
    }
}
