package io.mintmark.console.pages.approvals;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The requests that grants were made for. The broker writes such a grant, so its columns name the
 * broker and a number where a reader looks for a person and a reason.
 */
public record GrantRequests(Map<Long, Approval> byGrant) {
    public static final GrantRequests NONE = new GrantRequests(Map.of());

    private static final String BY_TOKEN = "by token";

    private static final String OF_GRANTS =
            """
            SELECT g.id, q.id AS request, q.reason, q.subject, q.break_glass,
                   ARRAY(SELECT coalesce(d.subject, d.decided_by) FROM broker.access_decision AS d
                          WHERE d.request = q.id AND d.verdict = 'approve' ORDER BY d.id) AS people,
                   ARRAY(SELECT CASE WHEN d.decided_by IS NULL THEN 'by token' ELSE 'in SQL' END FROM broker.access_decision AS d
                          WHERE d.request = q.id AND d.verdict = 'approve' ORDER BY d.id) AS ways
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
    public record Approval(String request, String reason, boolean breakGlass, List<Person> people) {
        private static Approval of(ResultSet row) throws SQLException {
            List<String> names = Query.texts(row, "people");
            List<String> ways = Query.texts(row, "ways");
            return new Approval(
                    row.getString("request"),
                    row.getString("reason"),
                    row.getBoolean("break_glass"),
                    names.isEmpty()
                            ? List.of(new Person(row.getString("subject"), BY_TOKEN))
                            : IntStream.range(0, names.size())
                                    .mapToObj(at -> new Person(names.get(at), ways.get(at)))
                                    .toList());
        }
    }

    /**
     * Somebody who allowed the access.
     *
     * @param how "by token" or "in SQL"
     */
    public record Person(String name, String how) {}

    /** The requests of existing grants, as far as the viewer may see them. */
    public static GrantRequests of(Connection connection, List<Long> grants) throws SQLException {
        Map<Long, Approval> found = new HashMap<>();
        if (!grants.isEmpty()) {
            Query.of(OF_GRANTS, grants.stream().map(String::valueOf).toList())
                    .each(
                            connection,
                            row -> {
                                found.put(row.getLong("id"), Approval.of(row));
                            });
        }
        return new GrantRequests(Map.copyOf(found));
    }

    public Optional<Approval> of(long grant) {
        return Optional.ofNullable(byGrant.get(grant));
    }
}
