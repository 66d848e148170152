package io.mintmark.console.pages.proof;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A checkpoint, in a line.
 *
 * @param key the id of the key that it says it is signed by
 * @param hash SHA-256 of its JWS, which the next one names it by
 * @param fault what is wrong with its signature, as the end of a sentence; empty if it is valid
 */
record CheckpointLine(long number, Instant at, String key, String hash, Optional<String> fault) {
    private static final String LATEST =
            """
            SELECT c.number, c.sealed_at, c.jws, c.announced_by FROM audit.checkpoint AS c
             WHERE c.number < ? ORDER BY c.number DESC LIMIT ?
            """;

    /** A key is announced by the key before it, so the order matters. */
    private static final String ANNOUNCEMENTS =
            """
            SELECT c.number, c.sealed_at, c.jws, c.announced_by FROM audit.checkpoint AS c
             WHERE c.announced_by IS NOT NULL ORDER BY c.number LIMIT ?
            """;

    private static final int MOST_ANNOUNCEMENTS = 1_000;

    /**
     * The checkpoints with which a key signed for the first time, the oldest first, without the
     * first key's.
     */
    static List<SignedCheckpoint> announcements(Connection connection) throws SQLException {
        return Query.of(ANNOUNCEMENTS, MOST_ANNOUNCEMENTS).list(connection, CheckpointLine::signed);
    }

    /**
     * The last ones before a number, the newest first.
     *
     * @param announcements of keys that are trusted with the keys before them
     */
    static List<CheckpointLine> latest(
            Connection connection,
            long before,
            int most,
            TrustedKeys keys,
            List<SignedCheckpoint> announcements)
            throws SQLException {
        announcements.forEach(keys::fault);
        return Query.of(LATEST, before, most).list(connection, CheckpointLine::signed).stream()
                .map(signed -> of(signed, keys))
                .toList();
    }

    static SignedCheckpoint signed(ResultSet row) throws SQLException {
        return new SignedCheckpoint(
                row.getLong("number"),
                Query.time(row, "sealed_at"),
                row.getString("jws"),
                Query.text(row, "announced_by"));
    }

    private static CheckpointLine of(SignedCheckpoint signed, TrustedKeys keys) {
        return new CheckpointLine(
                signed.number(),
                signed.sealedAt(),
                signed.signer(),
                signed.hash(),
                keys.fault(signed));
    }
}
