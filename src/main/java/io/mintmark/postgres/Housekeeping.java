package io.mintmark.postgres;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Makes the audit log's partitions ahead of time and forgets used tokens. Every replica does it;
 * the database sees to it that it happens once.
 */
public final class Housekeeping implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Housekeeping.class);
    private static final Duration PERIOD = Duration.ofHours(1);

    private final Queries queries;
    private final PostgresUsedTokens usedTokens;
    private final ScheduledExecutorService schedule =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().name("housekeeping").daemon().factory());

    public Housekeeping(Database database, PostgresUsedTokens usedTokens) {
        this.queries = database.reading();
        this.usedTokens = usedTokens;
    }

    /** Does it now and every hour from now on. */
    public Housekeeping start() {
        var _ =
                schedule.scheduleWithFixedDelay(
                        this::tidyUp, 0, PERIOD.toSeconds(), TimeUnit.SECONDS);
        return this;
    }

    private void tidyUp() {
        try {
            var _ = Partitions.create(queries);
            usedTokens.forget();
        } catch (RuntimeException e) {
            log.warn("The database could not be tidied up; it is tried again in an hour", e);
        }
    }

    @Override
    public void close() {
        schedule.shutdownNow();
    }
}
