package io.mintmark.broker.approval;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Ends requests for access that nobody decided in time, and credentials whose access ended early
 * and which the end itself missed. Every replica does it. The database skips a tenant that another
 * session edits, whose turn comes when that has ended.
 */
public final class Lapses implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Lapses.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final String LAPSE =
            "SELECT internal.lapse_access_requests(cast(? AS int)) AS lapsed";

    private static final String END_CREDENTIALS =
            "SELECT internal.end_credentials_of_access(cast(? AS int)) AS lapsed";

    /** The maximum number of requests in one transaction, which holds the lock of their tenant. */
    private static final int AT_ONCE = 100;

    /** The maximum number of transactions in a round. The rest waits for the next round. */
    private static final int MOST = 20;

    private final Queries queries;
    private final BackgroundThread thread =
            BackgroundThread.repeating(ThreadName.LAPSES, Duration.ZERO, this::round);
    private boolean failing;

    public Lapses(Database database) {
        this.queries = database.reading();
    }

    public Lapses start() {
        var _ = thread.start();
        return this;
    }

    /**
     * Lapses requests and ends credentials. If one of the two fails, the other is done all the
     * same.
     */
    private Duration round() {
        List<RuntimeException> failures =
                Stream.<Runnable>of(this::lapse, this::endCredentials)
                        .map(Lapses::failure)
                        .flatMap(Optional::stream)
                        .toList();
        if (!failing && !failures.isEmpty()) {
            log.warn(
                    "Overdue requests for access can't be closed now, or credentials can't be ended with their access; the broker retries every second",
                    failures.getFirst());
        }
        failing = !failures.isEmpty();
        return PERIOD;
    }

    private static Optional<RuntimeException> failure(Runnable step) {
        try {
            step.run();
            return Optional.empty();
        } catch (RuntimeException e) {
            return Optional.of(e);
        }
    }

    private void lapse() {
        int done = 0;
        while (done < MOST && number(LAPSE) > 0) {
            done++;
        }
    }

    private void endCredentials() {
        var _ = number(END_CREDENTIALS);
    }

    private int number(String statement) {
        return queries.query(
                        statement, List.of(AT_ONCE), row -> row.column("lapsed").get(Integer.class))
                .getFirst();
    }

    @Override
    public void close() {
        thread.stop(PERIOD);
    }
}
