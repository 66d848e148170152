package io.mintmark.audit.log;

import io.helidon.dbclient.DbRow;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The state of the audit log that all replicas share. The database is asked at most every ten
 * seconds, whatever the number of callers.
 */
public final class LogFigures {
    private static final Duration FRESH = Duration.ofSeconds(10);

    private static final String FIGURES =
            """
            SELECT coalesce((
                       SELECT cast(1000 * extract(epoch FROM clock_timestamp() - c.sealed_at) AS bigint)
                         FROM log.checkpoint AS c ORDER BY c.number DESC LIMIT 1), -1) AS age_millis,
                   coalesce((
                       SELECT cast(1000 * extract(epoch FROM clock_timestamp() - s.witnessed_at) AS bigint)
                         FROM work.sealing AS s), -1) AS unwitnessed_millis,
                   (SELECT count(*) FROM log.open_mint AS o
                     WHERE o.mint_id < audit.first_mint_id(now() - interval '1 minute')) AS unresolved,
                   (SELECT count(*) FROM work.ending AS e WHERE e.due <= now()) AS endings,
                   coalesce((SELECT cast(1000 * extract(epoch FROM now() - min(e.due)) AS bigint)
                               FROM work.ending AS e WHERE e.due <= now()), 0) AS oldest_millis
            """;

    private record Figures(
            Optional<Duration> checkpointAge,
            Optional<Duration> unwitnessed,
            long unresolvedMints,
            long endingsOpen,
            Duration oldestEnding) {}

    private record Asked(long at, Optional<Figures> answer) {}

    private final Queries queries;
    private final LongSupplier nanos;
    private @Nullable Asked last;

    /**
     * @param nanos a clock that never goes back
     */
    public LogFigures(Database database, LongSupplier nanos) {
        this.queries = database.reading();
        this.nanos = nanos;
    }

    /** The time since the last checkpoint; empty if there is none or it is unknown. */
    public Optional<Duration> checkpointAge() {
        return current().flatMap(Figures::checkpointAge);
    }

    /**
     * The time since the last checkpoint that a quorum cosigned; empty if there is none or it is
     * unknown.
     */
    public Optional<Duration> unwitnessed() {
        return current().flatMap(Figures::unwitnessed);
    }

    /** Mints over a minute old without an outcome; empty if unknown. */
    public Optional<Long> unresolvedMints() {
        return current().map(Figures::unresolvedMints);
    }

    /** Mints that are due to be ended at their provider; empty if unknown. */
    public Optional<Long> endingsOpen() {
        return current().map(Figures::endingsOpen);
    }

    /** The time for which the oldest of them has been due, zero without any; empty if unknown. */
    public Optional<Duration> oldestEnding() {
        return current().map(Figures::oldestEnding);
    }

    private synchronized Optional<Figures> current() {
        Asked known = last;
        if (known == null || nanos.getAsLong() - known.at() > FRESH.toNanos()) {
            known = new Asked(nanos.getAsLong(), ask());
            last = known;
        }
        return known.answer();
    }

    private Optional<Figures> ask() {
        try {
            return Optional.of(queries.query(FIGURES, Map.of(), LogFigures::figures).getFirst());
        } catch (QueryFailed e) {
            return Optional.empty();
        }
    }

    private static Figures figures(DbRow row) {
        return new Figures(
                age(row, "age_millis"),
                age(row, "unwitnessed_millis"),
                row.column("unresolved").get(Long.class),
                row.column("endings").get(Long.class),
                Duration.ofMillis(row.column("oldest_millis").get(Long.class)));
    }

    private static Optional<Duration> age(DbRow row, String column) {
        return Optional.of(row.column(column).get(Long.class))
                .filter(millis -> millis >= 0)
                .map(Duration::ofMillis);
    }
}
