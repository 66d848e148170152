package io.mintmark.console.pages.approvals;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The requests that grants were made for. The broker writes such a grant, so its columns name the
 * broker and a number where a reader looks for a person and a reason.
 */
public record GrantRequests(Map<Long, Approval> byGrant) {
    public static final GrantRequests NONE = new GrantRequests(Map.of());

    private static final String OF_GRANTS =
            """
            SELECT g.id, q.id AS request, q.reason, q.subject, q.break_glass,
                   ARRAY(SELECT coalesce(d.subject, d.decided_by) FROM broker.access_decision AS d
                          WHERE d.request = q.id AND d.verdict = 'approve' ORDER BY d.id) AS people
              FROM broker.subject_grant AS g
              JOIN broker.access_request AS q ON q.id = g.request_id
             WHERE g.id = ANY (cast(? AS bigint[]))
            """;

    /**
     * A request that was granted.
     *
     * @param reason in the requester's words
     * @param people who approved; the requester alone if nobody had to
     */
    public record Approval(String request, String reason, boolean breakGlass, List<String> people) {
        /** The people who allowed the access. */
        public String by() {
            return String.join(", ", people);
        }
    }

    /** The requests of existing grants, as far as the viewer may see them. */
    public static GrantRequests of(Connection connection, List<Long> grants) throws SQLException {
        Map<Long, Approval> found = new HashMap<>();
        if (!grants.isEmpty()) {
            Query.of(OF_GRANTS, grants.stream().map(String::valueOf).toList())
                    .each(
                            connection,
                            row -> {
                                List<String> people = Query.texts(row, "people");
                                found.put(
                                        row.getLong("id"),
                                        new Approval(
                                                row.getString("request"),
                                                row.getString("reason"),
                                                row.getBoolean("break_glass"),
                                                people.isEmpty()
                                                        ? List.of(row.getString("subject"))
                                                        : people));
                            });
        }
        return new GrantRequests(Map.copyOf(found));
    }

    public Optional<Approval> of(long grant) {
        return Optional.ofNullable(byGrant.get(grant));
    }
}
