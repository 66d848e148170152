package io.mintmark.broker.grant;

import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;
import io.mintmark.base.verdict.Unavailable;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;

/**
 * Asks the database twice a second which of the cached states have changed, on a thread of its own,
 * so that lists and refusals follow an edit within a second. Mints don't depend on it: the commit
 * of their intent returns the current state. While the database is unreachable, it is asked less
 * and less often.
 */
public final class CataloguePolling implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CataloguePolling.class);
    static final Duration PERIOD = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(8);
    private static final Duration CLOSING = Duration.ofSeconds(1);

    private final Catalogue catalogue;
    private final KnownIssuers issuers;
    private final BackgroundThread thread;
    private Duration pause = PERIOD;

    public CataloguePolling(Catalogue catalogue, KnownIssuers issuers) {
        this.catalogue = catalogue;
        this.issuers = issuers;
        this.thread =
                BackgroundThread.repeating(
                        ThreadName.CATALOGUE_POLLING, Duration.ZERO, this::pollAndPause);
    }

    public void start() {
        var _ = thread.start();
    }

    private Duration pollAndPause() {
        pause = next(pause, poll());
        return pause;
    }

    private boolean poll() {
        try {
            catalogue.refresh();
            issuers.refresh();
            return true;
        } catch (Unavailable e) {
            log.debug("Configuration changes could not be read from the database", e);
        } catch (RuntimeException e) {
            log.error("Configuration changes could not be read", e);
        }
        return false;
    }

    static Duration next(Duration pause, boolean answered) {
        if (answered) {
            if (pause.compareTo(PERIOD) > 0) {
                log.info(
                        "Configuration changes can be read again, and take effect within a second");
            }
            return PERIOD;
        }
        if (pause.equals(PERIOD)) {
            log.warn("Configuration changes are delayed: the database doesn't respond");
        }
        Duration longer = pause.multipliedBy(2);
        return longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }

    @Override
    public void close() {
        var _ = thread.stop(CLOSING);
    }
}
