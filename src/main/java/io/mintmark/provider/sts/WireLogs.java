package io.mintmark.provider.sts;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Silences loggers that write whole requests and responses, at any level that an operator sets. The
 * references are kept because the platform forgets the level of an unreferenced logger.
 */
final class WireLogs implements AutoCloseable {
    private static final List<String> NAMES =
            List.of(
                    "org.apache.hc.client5.http.wire",
                    "org.apache.hc.client5.http.headers",
                    "software.amazon.awssdk.request");

    private final Map<Logger, Level> before = new HashMap<>();

    WireLogs() {
        for (String name : NAMES) {
            Logger logger = Logger.getLogger(name);
            before.put(logger, logger.getLevel());
            logger.setLevel(Level.OFF);
        }
    }

    @Override
    public void close() {
        before.forEach(Logger::setLevel);
    }
}
