package io.mintmark.console.pages.requests;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/**
 * A credential of access that ended before its time.
 *
 * @param mint its id
 * @param type of the access provider
 * @param state in the words of {@code audit.access_credential}
 * @param expiresAt when it expires by itself
 */
record LeftCredential(String mint, String type, String state, Instant expiresAt) {
    private static final int MOST = 100;

    private static final String OF_REQUEST =
            """
            SELECT c.mint_id, c.provider_type, c.state, c.expires_at FROM audit.access_credential AS c
             WHERE c.request = cast(? AS uuid) ORDER BY c.expires_at DESC LIMIT ?
            """;

    /**
     * The credentials that have not expired, the last to expire first; none while the access lasts.
     */
    static List<LeftCredential> of(Connection connection, AccessRequestLine line)
            throws SQLException {
        return line.grant().isEmpty() || line.inForce()
                ? List.of()
                : Query.of(OF_REQUEST, line.id(), MOST)
                        .list(
                                connection,
                                row ->
                                        new LeftCredential(
                                                row.getString("mint_id"),
                                                row.getString("provider_type"),
                                                row.getString("state"),
                                                Query.time(row, "expires_at")));
    }

    /** The end of the credential, in words. */
    String words(Frame frame) {
        String end = "ends by itself " + frame.at(expiresAt).distance();
        return switch (state) {
            case "ended" -> "ended";
            case "ending" -> "is being ended";
            case "revoked" -> "is revoked: servers that fetch the revocation list refuse it";
            case "cannot_end" -> "cannot be ended early, " + end;
            default -> end;
        };
    }

    /** The colour of the end. */
    String colour() {
        return state.equals("ended") || state.equals("revoked") ? "clean" : "attention";
    }
}
