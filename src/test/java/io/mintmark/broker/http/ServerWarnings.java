package io.mintmark.broker.http;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What the web server itself complains of while it is listened to. */
final class ServerWarnings extends Handler implements AutoCloseable {
    private final Logger logger = Logger.getLogger("io.helidon");
    private final List<String> warnings = new CopyOnWriteArrayList<>();

    ServerWarnings() {
        logger.addHandler(this);
    }

    @Override
    public void publish(LogRecord record) {
        if (record.getLevel().intValue() >= Level.WARNING.intValue()) {
            warnings.add(
                    record.getLoggerName()
                            + ": "
                            + record.getMessage()
                            + ": "
                            + record.getThrown());
        }
    }

    List<String> all() {
        return List.copyOf(warnings);
    }

    /** All so far, which {@link #all} then no longer has. */
    List<String> take() {
        List<String> taken = all();
        warnings.clear();
        return taken;
    }

    @Override
    public void flush() {
        // nothing is kept back
    }

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
