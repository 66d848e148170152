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
 * @param roles what the configuration names them as, in words
 * @param decisions the newest first
 */
record Identities(
        List<String> logins, List<String> subjects, List<String> roles, List<Decision> decisions) {
    private static final int JOINED = 50;
    private static final int ROLES = 10;
    private static final int DECISIONS = 10;

    private static final String JOINS =
            """
            WITH RECURSIVE pair AS MATERIALIZED (
                 SELECT DISTINCT a.role_name, a.subject FROM broker.access_approver AS a
                  WHERE a.role_name IS NOT NULL AND a.subject IS NOT NULL AND a.match = 'exact'),
                 joined AS (
                 SELECT p.role_name, p.subject FROM pair AS p WHERE p.role_name = ? OR p.subject = ?
                  UNION
                 SELECT p.role_name, p.subject FROM joined AS j
                   JOIN pair AS p ON p.role_name = j.role_name OR p.subject = j.subject)
            SELECT j.role_name, j.subject FROM joined AS j ORDER BY j.role_name, j.subject LIMIT ?
            """;

    /** Members of the group roles are of no tenant. */
    private static final String NAMED =
            """
            SELECT 'admin of ' || t.tenant AS role FROM broker.tenant_admin AS t WHERE t.role_name = ANY (cast(? AS text[]))
            UNION
            SELECT 'member of ' || m.role_name FROM audit.role_member AS m
             WHERE m.member = ANY (cast(? AS text[])) AND (SELECT internal.viewer_sees_all())
            UNION
            SELECT 'approver for ' || r.key || ' of ' || r.tenant
              FROM broker.access_approver AS a JOIN broker.access_rule AS r ON r.id = a.rule
             WHERE a.role_name = ANY (cast(? AS text[])) OR a.match = 'exact' AND a.subject = ANY (cast(? AS text[]))
             ORDER BY role LIMIT ?
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

    /**
     * The identities of a login or a subject, through any number of rows, as far as the viewer may
     * see them.
     */
    static Identities of(Connection connection, String name) throws SQLException {
        List<Joined> joined =
                Query.of(JOINS, name, name, JOINED)
                        .list(connection, row -> new Joined(row.getString(1), row.getString(2)));
        List<String> logins = joined.stream().map(Joined::login).distinct().toList();
        List<String> subjects = joined.stream().map(Joined::subject).distinct().toList();
        List<String> ofLogin = with(logins, name);
        List<String> ofSubject = with(subjects, name);
        return new Identities(
                logins,
                subjects,
                Query.of(NAMED, ofLogin, ofLogin, ofLogin, ofSubject, ROLES)
                        .list(connection, row -> row.getString("role")),
                decisions(connection, ofLogin, ofSubject));
    }

    /** The logins of SQL, with the name that the page is about. */
    List<String> logins(String name) {
        return with(logins, name);
    }

    /** The subjects of tokens, with the name that the page is about. */
    List<String> subjects(String name) {
        return with(subjects, name);
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
        return logins.isEmpty() && roles.isEmpty() && decisions.isEmpty();
    }
}
