package io.mintmark.console.pages.proof;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The key that signs checkpoints now, as the log has it.
 *
 * @param since when it signed for the first time
 */
record SignerAge(String id, Instant since) {
    private static final String FIRST_AND_LAST =
            """
            (SELECT c.number, c.sealed_at, c.jws, c.announced_by FROM audit.checkpoint AS c
              ORDER BY c.number LIMIT 1)
            UNION ALL
            (SELECT c.number, c.sealed_at, c.jws, c.announced_by FROM audit.checkpoint AS c
              ORDER BY c.number DESC LIMIT 1)
            """;

    /**
     * The key of the last checkpoint; none if there is no checkpoint, or if the log doesn't have
     * the first one that the key signed.
     */
    static Optional<SignerAge> of(Connection connection, List<SignedCheckpoint> announcements)
            throws SQLException {
        List<SignedCheckpoint> ends =
                Query.of(FIRST_AND_LAST).list(connection, CheckpointLine::signed);
        if (ends.isEmpty()) {
            return Optional.empty();
        }
        SignedCheckpoint introduced =
                announcements.isEmpty() ? ends.getFirst() : announcements.getLast();
        String signer = ends.getLast().signer();
        boolean begun = !announcements.isEmpty() || introduced.number() == 1;
        return begun && introduced.signer().equals(signer)
                ? Optional.of(new SignerAge(signer, introduced.sealedAt()))
                : Optional.empty();
    }
}
