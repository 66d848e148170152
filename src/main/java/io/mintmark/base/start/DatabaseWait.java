package io.mintmark.base.start;

import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.Logins;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Waits at startup for a database that may be starting as well, on a machine that is busy. One
 * limit covers everything that startup asks of it. A fault that waiting doesn't mend ends the start
 * at once.
 */
public final class DatabaseWait {
    private static final Logger log = LoggerFactory.getLogger(DatabaseWait.class);
    private static final Duration PAUSE = Duration.ofMillis(250);
    private static final Duration LEAST = Duration.ofSeconds(1);
    private static final Duration MOST = Duration.ofSeconds(10);

    private final DatabaseSettings settings;
    private final long began = System.nanoTime();
    private boolean reported;

    public DatabaseWait(DatabaseSettings settings) {
        this.settings = settings;
    }

    /** A pool whose connections may take longer to come about than clients would wait. */
    public static Database patient(DatabaseSettings settings) {
        Duration all = settings.startTimeout();
        Duration connecting =
                all.compareTo(MOST) > 0 ? MOST : all.compareTo(LEAST) < 0 ? LEAST : all;
        return new Database(Logins.service(settings), settings.poolSize(), connecting);
    }

    /**
     * Does it, again and again as long as the database can't be reached.
     *
     * @param step may be done twice
     * @throws StartFailed with what is wrong with the database
     */
    public void run(Runnable step) {
        var _ =
                get(() -> {
                    step.run();
                    return settings;
                });
    }

    /** Waits for a step that has an answer. */
    public <T> T get(Supplier<T> step) {
        while (true) {
            try {
                return step.get();
            } catch (DatabaseUnfit e) {
                if (!e.isUnreachable() || waited().compareTo(settings.startTimeout()) >= 0) {
                    throw new StartFailed(said(e));
                }
                warn(e);
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    private Duration waited() {
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private String said(DatabaseUnfit fault) {
        String said = "DATABASE_URL %s: %s".formatted(settings.url(), fault.getMessage());
        return reported ? "%s (tried for %d s)".formatted(said, waited().toSeconds()) : said;
    }

    private void warn(DatabaseUnfit fault) {
        if (!reported) {
            log.warn(
                    "The database can't be reached; startup retries for up to {}: {}",
                    settings.startTimeout(),
                    fault.getMessage());
            reported = true;
        }
    }
}
