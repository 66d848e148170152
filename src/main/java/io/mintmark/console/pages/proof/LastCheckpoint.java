package io.mintmark.console.pages.proof;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** The last checkpoint, up to which the log is sealed. */
public record LastCheckpoint(long number, Instant at) {
    private static final Duration LATE = Duration.ofMinutes(5);

    private static final String LAST =
            """
            SELECT c.number, c.sealed_at FROM audit.checkpoint AS c
             ORDER BY c.number DESC LIMIT 1
            """;

    /** The last checkpoint, if there is one and the viewer may see it. */
    public static Optional<LastCheckpoint> last(Connection connection) throws SQLException {
        return Query.of(LAST)
                .first(
                        connection,
                        row ->
                                new LastCheckpoint(
                                        row.getLong("number"), Query.time(row, "sealed_at")));
    }

    /**
     * Whether the checkpoint is older than it should be: while a broker runs, checkpoints come
     * every minute.
     */
    public boolean isLate(Instant now) {
        return at.plus(LATE).isBefore(now);
    }
}
