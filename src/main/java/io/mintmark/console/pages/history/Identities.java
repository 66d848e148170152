package io.mintmark.console.pages.history;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The logins and subjects that approvers' rows join to one person, and what they decided.
 *
 * @param logins of SQL
 * @param subjects of tokens
 * @param decisions the newest first
 */
record Identities(List<String> logins, List<String> subjects, List<Decision> decisions) {
    private static final int JOINED = 50;
    private static final int DECISIONS = 10;

    private static final String JOINS =
            """
            SELECT DISTINCT a.role_name, a.subject FROM broker.access_approver AS a
             WHERE a.role_name IS NOT NULL AND a.subject IS NOT NULL AND (a.role_name = ? OR a.subject = ?)
             ORDER BY a.role_name, a.subject LIMIT ?
            """;

    private static final String DECIDED =
            """
            SELECT d.created_at, d.verdict, d.note, coalesce(d.subject, d.decided_by) AS name, q.id, q.subject, q.key, q.tenant
              FROM (SELECT n.* FROM broker.access_decision AS n ORDER BY n.id DESC LIMIT 2000) AS d
              JOIN broker.access_request AS q ON q.id = d.request
             WHERE d.decided_by = ANY (cast(? AS text[])) OR d.subject = ANY (cast(? AS text[]))
             ORDER BY d.id DESC LIMIT ?
            """;

    /** A decision of one of these identities on a request. */
    record Decision(
            Instant at,
            String verdict,
            Optional<String> note,
            String name,
            String request,
            String subject,
            String key,
            String tenant) {
        String verb() {
            return Verdicts.past(verdict);
        }
    }

    private record Joined(String login, String subject) {}

    /** The identities of a login or a subject, as far as the viewer may see them. */
    static Identities of(Connection connection, String name) throws SQLException {
        List<Joined> joined =
                Query.of(JOINS, name, name, JOINED)
                        .list(connection, row -> new Joined(row.getString(1), row.getString(2)));
        List<String> logins = joined.stream().map(Joined::login).distinct().toList();
        List<String> subjects = joined.stream().map(Joined::subject).distinct().toList();
        return new Identities(
                logins, subjects, decisions(connection, with(logins, name), with(subjects, name)));
    }

    private static List<String> with(List<String> names, String name) {
        return Stream.concat(names.stream(), Stream.of(name)).distinct().toList();
    }

    private static List<Decision> decisions(
            Connection connection, List<String> logins, List<String> subjects) throws SQLException {
        return Query.of(DECIDED, logins, subjects, DECISIONS)
                .list(
                        connection,
                        row ->
                                new Decision(
                                        Query.time(row, "created_at"),
                                        row.getString("verdict"),
                                        Query.text(row, "note"),
                                        row.getString("name"),
                                        row.getString("id"),
                                        row.getString("subject"),
                                        row.getString("key"),
                                        row.getString("tenant")));
    }

    boolean isEmpty() {
        return logins.isEmpty() && decisions.isEmpty();
    }
}
