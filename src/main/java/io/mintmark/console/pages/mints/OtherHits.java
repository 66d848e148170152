package io.mintmark.console.pages.mints;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Suggestions;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * What the field of all pages finds besides mints: a word of a person's reason, such as a ticket, a
 * grant's number, a login, an approver, or a part of a name. Looks through a limited number of rows
 * of each kind, the newest first.
 *
 * @param requests whose requester or reason has the text
 * @param grants of this number, or whose reason has the text
 * @param people logins and approvers whose name has the text
 * @param names of tenants, keys and subjects
 */
public record OtherHits(List<Hit> requests, List<Hit> grants, List<Hit> people, Suggestions names) {
    static final OtherHits NONE = new OtherHits(List.of(), List.of(), List.of(), Suggestions.NONE);

    /** One more than a page lists. */
    private static final int READ = 9;

    private static final String GRANT = "grant ";
    private static final int CHANGES = 500;
    private static final int DENIALS = 2_000;

    /** Tenant by tenant, so that rows of tenants that the viewer can't see cost nothing. */
    private static final String REQUESTS =
            """
            SELECT r.id, r.subject, r.key, r.tenant, r.reason
              FROM (SELECT e.* FROM (SELECT t.name FROM broker.tenant AS t ORDER BY t.name LIMIT 200) AS seen
                     CROSS JOIN LATERAL (SELECT q.* FROM broker.access_request AS q WHERE q.tenant = seen.name
                                          ORDER BY q.tenant DESC, q.requested_at DESC LIMIT 1000) AS e
                     LIMIT 5000) AS r
             WHERE strpos(lower(r.reason), ?) > 0 OR strpos(lower(r.subject), ?) > 0
             ORDER BY r.requested_at DESC LIMIT ?
            """;

    private static final String GRANTS =
            """
            SELECT g.id, g.key, g.tenant, g.reason FROM broker.subject_grant AS g WHERE g.id = ?
            UNION
            (SELECT g.id, g.key, g.tenant, g.reason
               FROM (SELECT e.* FROM (SELECT t.name FROM broker.tenant AS t ORDER BY t.name LIMIT 200) AS seen
                      CROSS JOIN LATERAL (SELECT n.* FROM broker.subject_grant AS n WHERE n.tenant = seen.name
                                           ORDER BY n.tenant, n.key LIMIT 2000) AS e
                      LIMIT 5000) AS g
              WHERE strpos(lower(g.reason), ?) > 0 LIMIT ?)
             ORDER BY id DESC
            """;

    /**
     * Finds the logins of recent changes, and all admins and approvers, whom a burst of changes
     * would hide otherwise. Members of the group roles belong to no tenant.
     */
    private static final String PEOPLE =
            """
            SELECT p.name
              FROM (SELECT c.changed_by AS name FROM internal.changes_by(NULL, '-infinity', 'infinity', ?) AS c
                    UNION SELECT t.role_name FROM broker.tenant_admin AS t
                    UNION SELECT m.member FROM audit.role_member AS m WHERE m.can_login AND (SELECT internal.viewer_sees_all())
                    UNION SELECT a.role_name FROM broker.access_approver AS a WHERE a.role_name IS NOT NULL
                    UNION SELECT a.subject FROM broker.access_approver AS a
                           WHERE a.subject IS NOT NULL AND a.match = 'exact') AS p
             WHERE strpos(lower(p.name), ?) > 0 ORDER BY p.name LIMIT ?
            """;

    /**
     * Finds denied and blocked subjects, which may have no grant. Denials are grouped by subject,
     * so that a burst gives one hit.
     */
    private static final String SUBJECTS =
            """
            SELECT d.subject FROM internal.most_denied(NULL, now() - interval '7 days', ?, 200) AS d
             WHERE d.subject IS NOT NULL
            UNION
            SELECT b.subject FROM broker.blocked_subject AS b WHERE b.match = 'exact' AND strpos(lower(b.subject), ?) > 0
            """;

    private static final String REQUEST =
            "SELECT q.id FROM broker.access_request AS q WHERE q.id = cast(? AS uuid)";

    /**
     * A hit.
     *
     * @param text by which the hit is known
     * @param of the key and its tenant; empty for people
     * @param reason in the words of the person who gave it
     */
    public record Hit(String text, String href, String of, String reason) {}

    /** The page of the request for access of this id, if the viewer may see it. */
    static Optional<String> request(Connection connection, UUID id) throws SQLException {
        return Query.of(REQUEST, id.toString())
                .first(connection, row -> Links.request(row.getString("id")));
    }

    /**
     * Finds the requests, grants and people that contain the searched text; none without a text.
     */
    static OtherHits of(Connection connection, Wanted wanted, Instant now) throws SQLException {
        return wanted.any().isEmpty()
                ? NONE
                : of(
                        connection,
                        wanted.any().get(),
                        MintSearch.latestSubjects(connection, Suggestions.LATEST, now));
    }

    private static OtherHits of(Connection connection, String text, List<String> latest)
            throws SQLException {
        String part = text.toLowerCase(Locale.ROOT);
        String number = part.startsWith(GRANT) ? part.substring(GRANT.length()) : part;
        Long grant = Parameters.isNumber(number) ? Long.valueOf(number) : null;
        List<String> subjects =
                Query.of(SUBJECTS, DENIALS, part).list(connection, row -> row.getString("subject"));
        return new OtherHits(
                Query.of(REQUESTS, part, part, READ)
                        .list(
                                connection,
                                row ->
                                        hit(
                                                row,
                                                row.getString("subject"),
                                                Links.request(row.getString("id")))),
                Query.of(GRANTS, grant, part, READ)
                        .list(
                                connection,
                                row ->
                                        hit(
                                                row,
                                                GRANT + row.getLong("id"),
                                                Links.grant(
                                                        row.getString("tenant"),
                                                        row.getLong("id")))),
                Query.of(PEOPLE, CHANGES, part, READ)
                        .list(
                                connection,
                                row ->
                                        new Hit(
                                                row.getString("name"),
                                                Links.person(row.getString("name")),
                                                "",
                                                "")),
                Suggestions.of(
                        connection,
                        text,
                        Stream.concat(subjects.stream(), latest.stream()).toList()));
    }

    private static Hit hit(ResultSet row, String text, String href) throws SQLException {
        return new Hit(
                text,
                href,
                "%s of %s".formatted(row.getString("key"), row.getString("tenant")),
                row.getString("reason"));
    }

    public boolean isEmpty() {
        return requests.isEmpty() && grants.isEmpty() && people.isEmpty() && names.isEmpty();
    }
}
