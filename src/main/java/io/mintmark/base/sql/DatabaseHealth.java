package io.mintmark.base.sql;

import io.mintmark.base.time.Clocks;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Timestamp;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** Whether the database answers, can be written to, and agrees on what time it is. */
public final class DatabaseHealth {
    private static final Logger log = LoggerFactory.getLogger(DatabaseHealth.class);

    private static final String STATE =
            """
            SELECT NOT pg_is_in_recovery()
                   AND current_setting('transaction_read_only') = 'off' AS writable,
                   clock_timestamp() AS now
            """;

    private final Database database;
    private final Queries queries;
    private final Clocks clocks;
    private String lastFault = "";

    private record State(boolean writable, Instant now) {}

    /**
     * @param clocks are set to the database's time by its answers
     */
    public DatabaseHealth(Database database, Clocks clocks) {
        this.database = database;
        this.queries = database.writing();
        this.clocks = clocks;
    }

    /** The fault, as a sentence for clients; empty if there is none. */
    public Optional<String> fault() {
        try {
            State state = state();
            reached();
            if (!state.writable()) {
                database.reconnect(); // another one may be the primary now
                return Optional.of("the database is read-only, so nothing can be recorded");
            }
            return clocks.fault();
        } catch (QueryFailed e) {
            String fault = "the database can't be reached: " + ConnectionFault.of(e);
            unreached(fault, e);
            return Optional.of(fault);
        }
    }

    private synchronized void reached() {
        if (!lastFault.isEmpty()) {
            log.info("The database can be reached again");
        }
        lastFault = "";
    }

    /** Logs each reason once, with the words of the server. */
    private synchronized void unreached(String fault, QueryFailed failure) {
        if (!fault.equals(lastFault)) {
            log.warn(
                    "The database can't be reached: {}",
                    DatabaseUnfit.because(failure).getMessage());
        }
        lastFault = fault;
    }

    /**
     * Requires that the clocks agree.
     *
     * @throws DatabaseUnfit if they don't, or if that can't be determined
     */
    public void requireSameTime() {
        try {
            var _ = state();
            clocks.fault()
                    .ifPresent(fault -> {
                        throw new DatabaseUnfit(fault + ": synchronize both clocks (NTP)");
                    });
        } catch (QueryFailed e) {
            throw new DatabaseUnfit("the server doesn't return its time", e);
        }
    }

    private State state() {
        return clocks.asking(
                () ->
                        queries.query(
                                        STATE,
                                        Map.of(),
                                        row ->
                                                new State(
                                                        row.column("writable").get(Boolean.class),
                                                        row.column("now")
                                                                .get(Timestamp.class)
                                                                .toInstant()))
                                .getFirst(),
                State::now);
    }
}
