package io.mintmark.console.pages;

import io.mintmark.audit.SignedCheckpoint;
import io.mintmark.postgres.connection.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/**
 * A checkpoint, in a line.
 *
 * @param key the id of the key that it says it is signed by
 * @param hash SHA-256 of its JWS, which the next one names it by
 */
record CheckpointLine(long number, Instant at, String key, String hash) {
    private static final String LATEST =
            """
            SELECT c.number, c.sealed_at, split_part(c.jws, '.', 1) AS header,
                   encode(sha256(convert_to(c.jws, 'UTF8')), 'hex') AS hash
              FROM audit.checkpoint AS c
             WHERE c.number < ? ORDER BY c.number DESC LIMIT ?
            """;

    /** The last ones before a number, the newest first. */
    static List<CheckpointLine> latest(Connection connection, long before, int most)
            throws SQLException {
        return Query.of(LATEST, before, most)
                .list(
                        connection,
                        row ->
                                new CheckpointLine(
                                        row.getLong("number"),
                                        Query.time(row, "sealed_at"),
                                        SignedCheckpoint.signer(row.getString("header")),
                                        row.getString("hash")));
    }
}
