package io.mintmark.console.pages.history;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.RowJson;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A change of the configuration, as differences.
 *
 * @param row by which its table knows it
 */
public record Change(
        long revision,
        Instant at,
        String by,
        String operation,
        String table,
        String row,
        List<Difference> differences) {

    /** The changes of one row, among a bounded number of changes. */
    private static final String OF_ROW =
            """
            SELECT c.revision, c.changed_at, c.changed_by, c.operation, c.table_name,
                   c.before::text AS before, c.after::text AS after
              FROM (SELECT n.* FROM audit.config_change AS n
                     WHERE n.tenant %s ? AND n.revision < ?
                     ORDER BY n.tenant DESC, n.revision DESC LIMIT 5000) AS c
             WHERE c.table_name = ?
               AND internal.name_in(c.table_name, coalesce(c.after, c.before)) = ?
             ORDER BY c.revision DESC LIMIT ?
            """;

    private static final String OF_GRANT =
            """
            SELECT c.revision, c.changed_at, c.changed_by, c.operation, c.table_name,
                   c.before::text AS before, c.after::text AS after
              FROM internal.changes_of_grant(?, ?, ?) AS c
            """;

    private static final String LATEST =
            """
            SELECT c.revision, c.changed_at, c.changed_by, c.operation, c.table_name,
                   c.before::text AS before, c.after::text AS after
              FROM audit.config_change AS c
             WHERE c.tenant %s ? AND c.revision < ?
             ORDER BY c.tenant DESC, c.revision DESC LIMIT ?
            """;

    /** Columns that change with every row and that the page shows separately. */
    private static final Set<String> BOOKKEEPING =
            Set.of("created_at", "created_by", "updated_at", "updated_by", "tenant");

    private static final List<String> IDS = List.of("id", "role_name", "name", "issuer", "type");

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
        return Query.of(ofWhom(OF_ROW, tenant), tenant.orElse(null), before, table, row, most)
                .list(connection, Change::change);
    }

    /** An index is used for {@code IS NULL}, and for no comparison that holds for null as well. */
    private static String ofWhom(String sql, Optional<String> tenant) {
        return sql.formatted(
                tenant.isPresent() ? "=" : "IS NULL AND NULL::text IS NOT DISTINCT FROM");
    }

    static List<Change> ofGrant(Connection connection, String tenant, long id, int most)
            throws SQLException {
        return Query.of(OF_GRANT, tenant, id, most).list(connection, Change::change);
    }

    /**
     * The last changes of a tenant before a revision, the newest first.
     *
     * @param tenant none: of what belongs to no tenant
     */
    public static List<Change> latest(
            Connection connection, Optional<String> tenant, long before, int most)
            throws SQLException {
        return Query.of(ofWhom(LATEST, tenant), tenant.orElse(null), before, most)
                .list(connection, Change::change);
    }

    private static Change change(ResultSet row) throws SQLException {
        Optional<JsonNode> before = Query.text(row, "before").map(RowJson::read);
        Optional<JsonNode> after = Query.text(row, "after").map(RowJson::read);
        return new Change(
                row.getLong("revision"),
                Query.time(row, "changed_at"),
                row.getString("changed_by"),
                row.getString("operation"),
                row.getString("table_name"),
                id(after.or(() -> before).orElseThrow()),
                differences(before, after));
    }

    private static String id(JsonNode row) {
        return IDS.stream()
                .filter(row::has)
                .findFirst()
                .map(member -> row.path(member).asText())
                .orElse("");
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

    /** In the words of a sentence. */
    String did() {
        return switch (operation) {
            case "INSERT" -> "added";
            case "DELETE" -> "deleted";
            default -> "changed";
        };
    }
}
