package io.mintmark.console.pages.week;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.week.WeekList.Kind;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Grants that were made and that ended in a week, and decisions on requests for access, from the
 * history of the configuration.
 *
 * @param exact whether all changes of the week were read
 */
record WeekChanges(Map<Kind, Found> found, Found byTheirDate, boolean exact) {
    /** The maximum number of changes that are read, the newest first. */
    private static final int READ = 5_000;

    private static final Found NOTHING = new Found(0, List.of());

    private static final String BOUNDS =
            """
            SELECT r.first, r.beyond
              FROM internal.revisions_in_time(?, cast(? AS timestamptz), cast(? AS timestamptz)) AS r
            """;

    /**
     * Approvals are those of requests, and those of grants by a second admin. A grant that was
     * disabled, or that had reached its end, had ended before it was deleted or disabled.
     */
    private static final String CHANGES =
            """
            WITH change AS MATERIALIZED (
                 SELECT n.revision, n.changed_at, n.changed_by, n.table_name, n.operation, n.before, coalesce(n.after, n.before) AS row
                   FROM audit.config_change AS n
                  WHERE n.tenant = ? AND n.revision >= ? AND n.revision < ?
                  ORDER BY n.tenant DESC, n.revision DESC LIMIT ?),
                 kind AS MATERIALIZED (
                 SELECT c.*, CASE
                        WHEN c.table_name = 'access_decision' THEN 'APPROVED'
                        WHEN c.operation = 'INSERT' THEN 'GRANTED'
                        WHEN c.operation = 'UPDATE' AND c.row ->> 'approved_by' <> coalesce(c.before ->> 'approved_by', '') THEN 'APPROVED'
                        WHEN NOT (c.before ->> 'enabled')::boolean THEN NULL
                        WHEN c.operation = 'DELETE' THEN 'ENDED'
                        WHEN NOT (c.row ->> 'enabled')::boolean
                             AND coalesce((c.before ->> 'valid_until')::timestamptz > c.changed_at, true) THEN 'ENDED' END AS kind
                   FROM change AS c WHERE c.table_name IN ('subject_grant', 'access_decision')),
                 place AS MATERIALIZED (
                 SELECT k.*, count(*) OVER (PARTITION BY k.kind) AS number,
                        row_number() OVER (PARTITION BY k.kind ORDER BY k.revision DESC) AS place
                   FROM kind AS k WHERE k.kind IS NOT NULL)
            SELECT p.kind, p.number, p.changed_at, p.changed_by, p.operation, p.row ->> 'id' AS id,
                   CASE WHEN p.table_name = 'access_decision' THEN q.subject ELSE p.row ->> 'subject' END AS subject,
                   CASE WHEN p.table_name = 'access_decision' THEN q.actor ELSE p.row ->> 'actor' END AS actor,
                   CASE WHEN p.table_name = 'access_decision' THEN q.key ELSE p.row ->> 'key' END AS key,
                   coalesce(p.row ->> 'note', q.reason, p.row ->> 'reason') AS why, q.id AS request, q.break_glass, q.status, q.subject AS requester,
                   q.withdrawn_by, p.row ->> 'verdict' AS verdict,
                   CASE WHEN p.table_name = 'access_decision' THEN coalesce(p.row ->> 'decided_by', p.row ->> 'subject') END AS decided_by,
                   ARRAY(SELECT coalesce(d.decided_by, d.subject) FROM broker.access_decision AS d
                          WHERE d.request = q.id AND d.verdict = 'approve' ORDER BY d.id) AS people
              FROM place AS p
              LEFT JOIN broker.access_request AS q ON q.id = cast(coalesce(p.row ->> 'request', p.row ->> 'request_id') AS uuid)
             WHERE p.place <= ?
             ORDER BY p.revision DESC
            """;

    /** Grants whose end was in the week. One that was disabled before had ended by that. */
    private static final String BY_THEIR_DATE =
            """
            SELECT g.id, g.subject, g.actor, g.key, g.valid_until, coalesce(q.reason, g.reason) AS reason, count(*) OVER () AS number
              FROM (SELECT n.* FROM broker.subject_grant AS n
                     WHERE n.tenant = ? AND n.valid_until >= cast(? AS timestamptz)
                       AND n.valid_until < least(cast(? AS timestamptz), now()) AND (n.enabled OR n.updated_at > n.valid_until)
                     ORDER BY n.tenant DESC, n.valid_until DESC LIMIT ?) AS g
              LEFT JOIN broker.access_request AS q ON q.id = g.request_id
             ORDER BY g.valid_until DESC LIMIT ?
            """;

    /** The newest lines of a kind, and the number of all. */
    record Found(long number, List<WeekLine> lines) {}

    private record Bounds(long first, long beyond) {}

    static WeekChanges of(Connection connection, String tenant, Week week) throws SQLException {
        Bounds bounds =
                Query.of(BOUNDS, tenant, week.start(), week.end())
                        .first(
                                connection,
                                row -> new Bounds(row.getLong("first"), row.getLong("beyond")))
                        .orElseThrow();
        Map<Kind, List<WeekLine>> lines = new EnumMap<>(Kind.class);
        Map<Kind, Long> numbers = new EnumMap<>(Kind.class);
        Query.of(CHANGES, tenant, bounds.first(), bounds.beyond(), READ, WeekList.SHOWN)
                .each(
                        connection,
                        row -> {
                            Kind kind = Kind.valueOf(row.getString("kind"));
                            numbers.put(kind, row.getLong("number"));
                            lines.computeIfAbsent(kind, _ -> new ArrayList<>())
                                    .add(line(kind, row, tenant));
                        });
        Map<Kind, Found> found = new EnumMap<>(Kind.class);
        lines.forEach(
                (kind, own) -> found.put(kind, new Found(numbers.getOrDefault(kind, 0L), own)));
        return new WeekChanges(
                found,
                byTheirDate(connection, tenant, week),
                bounds.beyond() - bounds.first() <= READ);
    }

    private static Found byTheirDate(Connection connection, String tenant, Week week)
            throws SQLException {
        long[] number = {0};
        List<WeekLine> lines =
                Query.of(BY_THEIR_DATE, tenant, week.start(), week.end(), READ, WeekList.SHOWN)
                        .list(
                                connection,
                                row -> {
                                    number[0] = row.getLong("number");
                                    return new WeekLine(
                                            Query.time(row, "valid_until"),
                                            Links.grant(tenant, row.getLong("id")),
                                            row.getString("subject"),
                                            Query.text(row, "actor"),
                                            row.getString("key"),
                                            "reached its end",
                                            Optional.empty(),
                                            Query.text(row, "reason"));
                                });
        return new Found(number[0], lines);
    }

    private static WeekLine line(Kind kind, ResultSet row, String tenant) throws SQLException {
        Optional<String> request = Query.text(row, "request");
        boolean isDecision = Query.text(row, "verdict").isPresent();
        return new WeekLine(
                Query.time(row, "changed_at"),
                isDecision
                        ? Links.request(request.orElseThrow())
                        : Links.grant(tenant, Long.parseLong(row.getString("id"))),
                row.getString("subject"),
                Query.text(row, "actor"),
                row.getString("key"),
                did(kind, row) + " by",
                Optional.of(by(kind, row)),
                Query.text(row, "why"));
    }

    private static String did(Kind kind, ResultSet row) throws SQLException {
        return switch (kind) {
            case APPROVED ->
                    switch (Query.text(row, "verdict").orElse("approve")) {
                        case "refuse" -> "refused";
                        case "withdraw" -> "withdrawn";
                        default -> "approved";
                    };
            case ENDED ->
                    isWithdrawal(row)
                            ? "withdrawn"
                            : row.getString("operation").equals("DELETE") ? "deleted" : "disabled";
            case GRANTED, USED, UNUSED, DENIED ->
                    row.getBoolean("break_glass")
                            ? "break glass"
                            : Query.text(row, "request").isPresent() ? "approved" : "granted";
        };
    }

    /** Whether the broker disabled the grant for the person who withdrew its request. */
    private static boolean isWithdrawal(ResultSet row) throws SQLException {
        return row.getString("operation").equals("UPDATE")
                && Query.text(row, "status").filter("withdrawn"::equals).isPresent();
    }

    private static String by(Kind kind, ResultSet row) throws SQLException {
        String login = row.getString("changed_by");
        return switch (kind) {
            case APPROVED -> Query.text(row, "decided_by").orElse(login);
            case ENDED ->
                    isWithdrawal(row)
                            ? Query.text(row, "withdrawn_by").orElse(row.getString("requester"))
                            : login;
            case GRANTED, USED, UNUSED, DENIED -> granted(row).orElse(login);
        };
    }

    /** The people who approved the request of a grant; the requester if nobody had to. */
    private static Optional<String> granted(ResultSet row) throws SQLException {
        List<String> people = Query.texts(row, "people");
        return people.isEmpty()
                ? Query.text(row, "requester")
                : Optional.of(String.join(", ", people));
    }

    Found of(Kind kind) {
        return found.getOrDefault(kind, NOTHING);
    }

    /** Grants that somebody ended, and grants that reached their end. */
    Found ended() {
        Found changed = of(Kind.ENDED);
        return new Found(
                changed.number() + byTheirDate.number(),
                Stream.concat(changed.lines().stream(), byTheirDate.lines().stream())
                        .sorted(Comparator.comparing(WeekLine::at).reversed())
                        .limit(WeekList.SHOWN)
                        .toList());
    }
}
