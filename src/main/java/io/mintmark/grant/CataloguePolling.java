package io.mintmark.grant;

import io.mintmark.verdict.Unavailable;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Asks the database twice a second what has changed of that which is held, on a thread of its own,
 * so that lists and refusals follow an edit within a second. Mints don't rest on it: the commit of
 * their intent tells what they were decided on. While the database is gone it is asked less and
 * less often.
 */
public final class CataloguePolling implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CataloguePolling.class);
    static final Duration PERIOD = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(8);
    private static final Duration CLOSING = Duration.ofSeconds(1);

    private final Catalogue catalogue;
    private final KnownIssuers issuers;
    private final Thread thread;
    private final CountDownLatch closed = new CountDownLatch(1);

    public CataloguePolling(Catalogue catalogue, KnownIssuers issuers) {
        this.catalogue = catalogue;
        this.issuers = issuers;
        this.thread = Thread.ofPlatform().name("catalogue-polling").daemon().unstarted(this::run);
    }

    /** Starts to ask. */
    public void start() {
        thread.start();
    }

    private void run() {
        try {
            Duration pause = PERIOD;
            while (!closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
                pause = next(pause, poll());
            }
        } catch (InterruptedException e) {
            log.warn("Changes of configuration are seen only when what is held gets old", e);
        }
    }

    private boolean poll() {
        try {
            catalogue.refresh();
            issuers.refresh();
            return true;
        } catch (Unavailable e) {
            log.debug("The database didn't tell what has changed", e);
        } catch (RuntimeException e) {
            log.error("What has changed of the configuration could not be asked", e);
        }
        return false;
    }

    static Duration next(Duration pause, boolean answered) {
        if (answered) {
            if (pause.compareTo(PERIOD) > 0) {
                log.info("Changes of configuration are seen at once again");
            }
            return PERIOD;
        }
        if (pause.equals(PERIOD)) {
            log.warn("Changes of configuration aren't seen at once: the database doesn't answer");
        }
        Duration longer = pause.multipliedBy(2);
        return longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            thread.join(CLOSING.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
