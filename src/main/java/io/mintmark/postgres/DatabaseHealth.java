package io.mintmark.postgres;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;

/** Whether the database answers, can be written to, and agrees on what time it is. */
public final class DatabaseHealth {
    /** How far a replica's clock may be from the database's. */
    static final Duration TOLERANCE = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(DatabaseHealth.class);

    private static final String STATE =
            """
            SELECT NOT pg_is_in_recovery()
                   AND current_setting('transaction_read_only') = 'off' AS writable,
                   clock_timestamp() AS now
            """;

    private final Queries queries;
    private final InstantSource clock;

    private record State(boolean writable, Instant earliest, Instant now, Instant latest) {

        /** By how much the clock here is ahead; negative if it is behind. Whatever is certain. */
        Duration ahead() {
            return earliest.isAfter(now)
                    ? Duration.between(now, earliest)
                    : latest.isBefore(now) ? Duration.between(now, latest) : Duration.ZERO;
        }

        Optional<String> clockFault() {
            Duration ahead = ahead();
            return ahead.abs().compareTo(TOLERANCE) <= 0
                    ? Optional.empty()
                    : Optional.of(
                            "this replica's clock is %d s %s the database's, and %d s are allowed"
                                    .formatted(
                                            ahead.abs().toSeconds(),
                                            ahead.isNegative() ? "behind" : "ahead of",
                                            TOLERANCE.toSeconds()));
        }
    }

    /**
     * @param clock this replica's
     */
    public DatabaseHealth(Database database, InstantSource clock) {
        this.queries = database.writing();
        this.clock = clock;
    }

    /** What is wrong with it, in a sentence for strangers; nothing if nothing is. */
    public Optional<String> fault() {
        try {
            State state = state();
            return state.writable()
                    ? state.clockFault()
                    : Optional.of("the database is read-only, so nothing can be recorded");
        } catch (QueryFailed e) {
            log.debug("The database can't be asked", e);
            return Optional.of("the database can't be reached");
        }
    }

    /**
     * Sees to it that the clocks agree.
     *
     * @throws DatabaseUnfit if they don't, or it can't be found out
     */
    public void requireSameTime() {
        try {
            state().clockFault()
                    .ifPresent(fault -> {
                        throw new DatabaseUnfit(fault + ": set both right (NTP)");
                    });
        } catch (QueryFailed e) {
            throw new DatabaseUnfit("can't be asked what time it is", e);
        }
    }

    private State state() {
        Instant before = clock.instant();
        return queries.query(
                        STATE,
                        Map.of(),
                        row ->
                                new State(
                                        row.column("writable").get(Boolean.class),
                                        before,
                                        row.column("now").get(Timestamp.class).toInstant(),
                                        clock.instant()))
                .getFirst();
    }
}
