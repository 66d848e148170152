package io.mintmark.audit.log;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.List;

/**
 * Makes the audit log's partitions ahead of time, and does what else is due every hour. Every
 * replica does it; the database sees to it that it happens once.
 */
public final class Housekeeping implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Housekeeping.class);
    private static final Duration PERIOD = Duration.ofHours(1);

    private final Queries queries;
    private final List<Runnable> further;
    private final BackgroundThread thread =
            BackgroundThread.repeating(ThreadName.HOUSEKEEPING, Duration.ZERO, this::tidyUp);

    /**
     * @param further what else is due every hour
     */
    public Housekeeping(Database database, List<Runnable> further) {
        this.queries = database.reading();
        this.further = List.copyOf(further);
    }

    /** Cleans up now and every hour from now on. */
    public Housekeeping start() {
        var _ = thread.start();
        return this;
    }

    private Duration tidyUp() {
        try {
            var _ = Partitions.create(queries);
            further.forEach(Runnable::run);
        } catch (RuntimeException e) {
            log.warn(
                    "Hourly housekeeping (new partitions, used token ids) failed; the next attempt is in one hour",
                    e);
        }
        return PERIOD;
    }

    @Override
    public void close() {
        thread.stop();
    }
}
