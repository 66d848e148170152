package io.mintmark.console.pages.history;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What rows are about that changed rows name by a number or an id alone, as far as it exists. */
record Referenced(Map<String, Subject> rows) {
    private static final String ROWS =
            """
            SELECT 'grant ' || g.id AS name, concat_ws(' for ', g.actor, g.subject) AS subject, g.key
              FROM broker.subject_grant AS g WHERE g.id = ANY (cast(cast(? AS text[]) AS bigint[]))
            UNION ALL
            SELECT 'request ' || q.id, concat_ws(' for ', q.actor, q.subject), q.key
              FROM broker.access_request AS q WHERE q.id = ANY (cast(cast(? AS text[]) AS uuid[]))
            UNION ALL
            SELECT 'rule ' || r.id, r.subject, r.key
              FROM broker.access_rule AS r WHERE r.id = ANY (cast(cast(? AS text[]) AS bigint[]))
            """;

    /** Whom a grant, a request or a rule is for, and the key. */
    record Subject(String name, String key) {}

    /**
     * The rows that changed rows refer to.
     *
     * @param changed rows by their table
     */
    static Referenced of(Connection connection, Map<String, List<JsonNode>> changed)
            throws SQLException {
        Map<String, Subject> found = new HashMap<>();
        List<String> grants = named(changed, "grant_review", "grant_id");
        List<String> requests = named(changed, "access_decision", "request");
        List<String> rules = named(changed, "access_approver", "rule");
        if (!grants.isEmpty() || !requests.isEmpty() || !rules.isEmpty()) {
            Query.of(ROWS, grants, requests, rules)
                    .each(
                            connection,
                            row ->
                                    found.put(
                                            row.getString("name"),
                                            new Subject(
                                                    row.getString("subject"),
                                                    row.getString("key"))));
        }
        return new Referenced(found);
    }

    private static List<String> named(
            Map<String, List<JsonNode>> changed, String table, String member) {
        return changed.getOrDefault(table, List.of()).stream()
                .map(row -> row.path(member).asText())
                .distinct()
                .toList();
    }

    /** The subject of a row: {@code what} is grant, request or rule. */
    Optional<Subject> subject(String what, String id) {
        return Optional.ofNullable(rows.get(what + " " + id));
    }
}
