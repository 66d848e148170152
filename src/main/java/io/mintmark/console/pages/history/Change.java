package io.mintmark.console.pages.history;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.RowJson;
import io.mintmark.console.pages.frame.TypedTime;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A change of the configuration, as differences.
 *
 * @param tenant none: of what belongs to no tenant
 * @param row by which its table knows it
 * @param person who did it, if the broker wrote the row for somebody who came with a token
 * @param sentence what was done, to be read after the person or the login
 */
public record Change(
        Optional<String> tenant,
        long revision,
        Instant at,
        String by,
        Optional<String> person,
        String operation,
        String table,
        String row,
        String sentence,
        List<Difference> differences) {

    /** The changes of one row, among a bounded number of changes. */
    private static final String OF_ROW =
            """
            SELECT c.tenant, c.revision, c.changed_at, c.changed_by, c.operation, c.table_name,
                   c.before::text AS before, c.after::text AS after,
                   internal.name_in(c.table_name, coalesce(c.after, c.before)) AS name
              FROM (SELECT n.* FROM audit.config_change AS n
                     WHERE n.tenant %s ? AND n.revision < ?
                     ORDER BY n.tenant DESC, n.revision DESC LIMIT 5000) AS c
             WHERE c.table_name = ?
               AND internal.name_in(c.table_name, coalesce(c.after, c.before)) = ?
             ORDER BY c.revision DESC LIMIT ?
            """;

    private static final String OF_GRANT =
            """
            SELECT c.tenant, c.revision, c.changed_at, c.changed_by, c.operation, c.table_name,
                   c.before::text AS before, c.after::text AS after,
                   internal.name_in(c.table_name, coalesce(c.after, c.before)) AS name
              FROM internal.changes_of_grant(?, ?, ?) AS c
            """;

    /** The newest that are wanted among a bounded number of changes. */
    private static final String WANTED =
            """
            SELECT c.tenant, c.revision, c.changed_at, c.changed_by, c.operation, c.table_name,
                   c.before::text AS before, c.after::text AS after,
                   internal.name_in(c.table_name, coalesce(c.after, c.before)) AS name
              FROM (SELECT n.* FROM audit.config_change AS n
                     WHERE n.tenant %s ? AND n.revision < ?
                     ORDER BY n.tenant DESC, n.revision DESC LIMIT 5000) AS c
             WHERE (cast(? AS text) IS NULL OR c.changed_by = ?)
               AND (cast(? AS text) IS NULL OR c.table_name = ?)
               AND c.changed_at >= coalesce(cast(? AS timestamptz), '-infinity')
               AND c.changed_at <= coalesce(cast(? AS timestamptz), 'infinity')
             ORDER BY c.revision DESC LIMIT ?
            """;

    private static final String OF_PERSON =
            """
            SELECT c.tenant, c.revision, c.changed_at, c.changed_by, c.operation, c.table_name,
                   c.before::text AS before, c.after::text AS after,
                   internal.name_in(c.table_name, coalesce(c.after, c.before)) AS name
              FROM internal.changes_by(?, coalesce(cast(? AS timestamptz), '-infinity'),
                                       coalesce(cast(? AS timestamptz), 'infinity'), ?) AS c
             ORDER BY c.changed_at DESC, c.tenant, c.revision DESC
            """;

    /** Changed columns that a folded change names. */
    private static final int NAMED = 3;

    /** Columns that change with every row and that the page shows separately. */
    private static final Set<String> BOOKKEEPING =
            Set.of("created_at", "created_by", "updated_at", "updated_by", "tenant");

    /**
     * A member of the row.
     *
     * @param before none if the row or the member wasn't there, or said nothing
     */
    record Difference(String member, Optional<String> before, Optional<String> after) {}

    /** The last changes of a row that isn't a grant, the newest first. */
    static List<Change> ofRow(
            Connection connection,
            Optional<String> tenant,
            String table,
            String row,
            long before,
            int most)
            throws SQLException {
        return changes(
                connection,
                Query.of(ofWhom(OF_ROW, tenant), tenant.orElse(null), before, table, row, most));
    }

    /** An index is used for {@code IS NULL}, and for no comparison that holds for null as well. */
    private static String ofWhom(String sql, Optional<String> tenant) {
        return sql.formatted(
                tenant.isPresent() ? "=" : "IS NULL AND NULL::text IS NOT DISTINCT FROM");
    }

    static List<Change> ofGrant(Connection connection, String tenant, long id, int most)
            throws SQLException {
        return changes(connection, Query.of(OF_GRANT, tenant, id, most));
    }

    /**
     * The last changes of a tenant before a revision, the newest first.
     *
     * @param tenant none: of what belongs to no tenant
     */
    public static List<Change> latest(
            Connection connection, Optional<String> tenant, long before, int most)
            throws SQLException {
        return latest(connection, tenant, HistoryFilter.NONE, before, most);
    }

    static List<Change> latest(
            Connection connection,
            Optional<String> tenant,
            HistoryFilter filter,
            long before,
            int most)
            throws SQLException {
        return changes(
                connection,
                Query.of(
                        ofWhom(WANTED, tenant),
                        tenant.orElse(null),
                        before,
                        filter.by().orElse(null),
                        filter.by().orElse(null),
                        filter.table().orElse(null),
                        filter.table().orElse(null),
                        filter.span().from().at().orElse(null),
                        filter.span().to().at().orElse(null),
                        most));
    }

    /** The last changes that a login made, or that all made, in all that the viewer may see. */
    public static List<Change> by(
            Connection connection, Optional<String> login, TypedTime.Span span, int most)
            throws SQLException {
        return changes(
                connection,
                Query.of(
                        OF_PERSON,
                        login.orElse(null),
                        span.from().at().orElse(null),
                        span.to().at().orElse(null),
                        most));
    }

    static List<Change> changes(Connection connection, Query query) throws SQLException {
        List<WrittenChange> rows = query.list(connection, WrittenChange::of);
        Referenced referenced =
                Referenced.of(
                        connection,
                        rows.stream()
                                .collect(
                                        Collectors.groupingBy(
                                                WrittenChange::table,
                                                Collectors.mapping(
                                                        WrittenChange::is, Collectors.toList()))));
        return rows.stream().map(row -> change(row, referenced)).toList();
    }

    private static Change change(WrittenChange row, Referenced referenced) {
        List<Difference> differences = differences(row.before(), row.after());
        return new Change(
                row.tenant(),
                row.revision(),
                row.at(),
                row.by(),
                row.person(),
                row.operation(),
                row.table(),
                row.name(),
                ChangeSentence.of(
                        row.operation(),
                        row.table(),
                        row.name(),
                        row.is(),
                        differences,
                        referenced),
                differences);
    }

    private static List<Difference> differences(
            Optional<JsonNode> before, Optional<JsonNode> after) {
        Set<String> members = new LinkedHashSet<>();
        before.ifPresent(row -> row.fieldNames().forEachRemaining(members::add));
        after.ifPresent(row -> row.fieldNames().forEachRemaining(members::add));
        members.removeAll(BOOKKEEPING);
        List<Difference> differences = new ArrayList<>();
        for (String member : members) {
            Optional<String> was = before.flatMap(row -> value(row, member));
            Optional<String> is = after.flatMap(row -> value(row, member));
            if (!was.equals(is)) {
                differences.add(new Difference(member, was, is));
            }
        }
        return List.copyOf(differences);
    }

    private static Optional<String> value(JsonNode row, String member) {
        JsonNode value = row.path(member);
        if (value.isNull() || value.isMissingNode()) {
            return Optional.empty();
        }
        return Optional.of(value.isValueNode() ? value.asText() : RowJson.indented(value));
    }

    /**
     * Whether the broker recorded what followed from a decision, so that the sentence names nobody.
     */
    boolean isConsequence() {
        return table.equals("access_request")
                && operation.equals("UPDATE")
                && sentence.startsWith("The ");
    }

    /** The names of the first columns that differ, and the number of further ones. */
    String extent() {
        String first =
                differences.stream()
                        .limit(NAMED)
                        .map(Difference::member)
                        .collect(Collectors.joining(", "));
        int others = differences.size() - NAMED;
        return others > 0 ? "%s and %d more".formatted(first, others) : first;
    }
}
