package io.mintmark.postgres.log;

import io.mintmark.audit.SignedCheckpoint;
import io.mintmark.audit.TrustedKeys;
import io.mintmark.audit.UnacknowledgedLoss;
import io.mintmark.postgres.connection.Queries;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Timestamp;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Keeps a writer from writing after a loss, until a checkpoint declares what happened: {@code audit
 * acknowledge-loss} or {@code audit declare-gap}. For the writer's turn.
 */
final class LossStop {
    private static final Logger log = LoggerFactory.getLogger(LossStop.class);

    private static final String LAST =
            "SELECT coalesce(max(number), 0) AS number FROM audit.checkpoint";

    private static final String SINCE =
            """
            SELECT number, sealed_at, jws
              FROM audit.checkpoint
             WHERE number > ?
             ORDER BY number
            """;

    private final Queries queries;
    private final TrustedKeys keys;
    private OptionalLong foundAfter = OptionalLong.empty();

    /**
     * @param keys those whose declarations count
     */
    LossStop(Queries queries, TrustedKeys keys) {
        this.queries = queries;
        this.keys = keys;
    }

    /** A loss was found; only later declarations are about it. */
    void stop() {
        foundAfter =
                OptionalLong.of(
                        queries.query(LAST, List.of(), row -> row.column("number").get(Long.class))
                                .getFirst());
    }

    /**
     * Lets the writer go on.
     *
     * @throws UnacknowledgedLoss if a loss was found and not declared since
     */
    void requireAcknowledged() {
        if (foundAfter.isPresent()) {
            String reason = declared(foundAfter.getAsLong()).orElseThrow(UnacknowledgedLoss::new);
            log.warn("The loss of rows of the audit log was acknowledged: {}", reason);
            foundAfter = OptionalLong.empty();
        }
    }

    private Optional<String> declared(long after) {
        return queries
                .query(
                        SINCE,
                        List.of(after),
                        row ->
                                new SignedCheckpoint(
                                        row.column("number").get(Long.class),
                                        row.column("sealed_at").get(Timestamp.class).toInstant(),
                                        row.column("jws").get(String.class),
                                        Optional.empty()))
                .stream()
                .flatMap(checkpoint -> keys.declared(checkpoint).stream())
                .findFirst();
    }
}
