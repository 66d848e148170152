package io.mintmark.console;

import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Says to a load balancer whether pages would be shown: whether the database answers. Anybody may
 * ask, so the database is asked once a second at most, by one of those who ask.
 */
final class ConsoleHealth implements Handler {
    static final String PATH = "/health";

    /** The name of the check, for operators. */
    static final String DATABASE = "database";

    private static final String FAULT = "the database doesn't answer";

    private static final Logger log = LoggerFactory.getLogger(ConsoleHealth.class);
    private static final long KEPT = Duration.ofSeconds(1).toNanos();

    /** A viewer who can't exist, because users who are logged in always have a name. */
    private static final Viewer NOBODY = new Viewer("", "{}");

    private final ConsoleAccess access;
    private final LongSupplier nanoTime;
    private final ReentrantLock asking = new ReentrantLock();
    private @Nullable Answer last;

    private record Answer(boolean answers, long at) {}

    /**
     * @param nanoTime a clock that only goes forward, in nanoseconds
     */
    ConsoleHealth(ConsoleAccess access, LongSupplier nanoTime) {
        this.access = access;
        this.nanoTime = nanoTime;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        boolean answers = answers();
        response.status(answers ? Status.OK_200 : Status.SERVICE_UNAVAILABLE_503)
                .header(HeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8")
                .send(answers ? "ok\n" : FAULT + "\n");
    }

    /** The fault of the database; empty if there is none. */
    Optional<String> fault() {
        return answers() ? Optional.empty() : Optional.of(FAULT);
    }

    /** Whether the database answered the last check. A check that is too old is repeated first. */
    boolean answers() {
        asking.lock();
        try {
            Answer known = last;
            if (known == null || nanoTime.getAsLong() - known.at() > KEPT) {
                known = new Answer(ask(), nanoTime.getAsLong());
                last = known;
            }
            return known.answers();
        } finally {
            asking.unlock();
        }
    }

    private boolean ask() {
        try {
            var _ = access.has(NOBODY);
            return true;
        } catch (ReadingFailed e) {
            log.warn("The database doesn't answer: {}", e.getMessage());
            return false;
        }
    }
}
