package io.mintmark.console.pages.approvals;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A request for access, in a line about the person who asked.
 *
 * @param actor who asked on the subject's behalf
 * @param reason in the words of the person who asked
 * @param status in words
 */
public record AskedRequest(
        String id,
        String tenant,
        String key,
        String subject,
        Optional<String> actor,
        String reason,
        String status,
        boolean breakGlass,
        Instant at) {
    private static final String ASKED =
            """
            SELECT q.id, q.tenant, q.key, q.subject, q.actor, q.reason, q.break_glass, q.requested_at,
                   CASE WHEN q.status = 'pending' AND q.expires_at <= now() THEN 'lapsed' ELSE q.status END AS status
              FROM broker.access_request AS q
             WHERE q.id = ANY (ARRAY(SELECT internal.requests_of_names(cast(? AS text[]), ?)))
             ORDER BY q.requested_at DESC, q.id
            """;

    /** The last requests of any of these subjects, alone or as an actor, the newest first. */
    public static List<AskedRequest> of(Connection connection, List<String> names, int most)
            throws SQLException {
        return Query.of(ASKED, names, most)
                .list(
                        connection,
                        row ->
                                new AskedRequest(
                                        row.getString("id"),
                                        row.getString("tenant"),
                                        row.getString("key"),
                                        row.getString("subject"),
                                        Query.text(row, "actor"),
                                        row.getString("reason"),
                                        row.getString("status"),
                                        row.getBoolean("break_glass"),
                                        Query.time(row, "requested_at")));
    }

    /** Whether the request is still to be decided. */
    public boolean isPending() {
        return status.equals("pending");
    }
}
