package io.mintmark.auditor.reader;

import io.mintmark.audit.log.AuditConnection;
import io.mintmark.auditor.verify.LogReader.Difference;
import io.mintmark.base.sql.Query;

import java.util.List;
import java.util.function.Consumer;

/**
 * Compares the tables of {@code broker} with {@code audit.config_change}. Each change removes one
 * version of a row and adds another, so the remaining versions must equal the tables' rows, under
 * any names that the rows had.
 */
final class ConfigurationHistory {
    /** All tables, and what else has the name of a table that the history has rows of. */
    private static final String TABLES =
            """
            SELECT c.relname AS name, quote_ident(c.relname) AS quoted
              FROM pg_catalog.pg_class AS c
             WHERE c.relnamespace = 'broker'::regnamespace
               AND (c.relkind IN ('r', 'p', 'f')
                    OR c.relkind IN ('v', 'm')
                   AND EXISTS (SELECT FROM audit.config_change AS h WHERE h.table_name = c.relname))
             ORDER BY c.relname
            """;

    private final AuditConnection connection;

    private record Table(String name, String quoted) {}

    ConfigurationHistory(AuditConnection connection) {
        this.connection = connection;
    }

    void differences(Consumer<Difference> each) {
        for (Table table : tables()) {
            String name = table.name();
            connection.each(
                    Query.of(differences(table.quoted()), name, name, name),
                    row ->
                            each.accept(
                                    new Difference(
                                            name,
                                            row.getString("content"),
                                            row.getLong("surplus") > 0)));
        }
    }

    /**
     * A query that compares a table with its history. In changes from before a column was added,
     * the column is null.
     */
    private static String differences(String table) {
        return """
        WITH given AS MATERIALIZED (
            SELECT coalesce(jsonb_object_agg(a.attname, 'null'::jsonb), '{}') AS content
              FROM pg_catalog.pg_attribute AS a
             WHERE a.attrelid = (SELECT c.oid FROM pg_catalog.pg_class AS c
                                  WHERE c.relnamespace = 'broker'::regnamespace AND c.relname = ?)
               AND a.attnum > 0 AND NOT a.attisdropped)
        SELECT part.content::text AS content, sum(part.sign) AS surplus
          FROM (SELECT to_jsonb(t) AS content, 1 AS sign FROM broker.%s AS t
                UNION ALL
                SELECT g.content || c.after, -1 FROM audit.config_change AS c CROSS JOIN given AS g
                 WHERE c.table_name = ? AND c.after IS NOT NULL
                UNION ALL
                SELECT g.content || c.before, 1 FROM audit.config_change AS c CROSS JOIN given AS g
                 WHERE c.table_name = ? AND c.before IS NOT NULL) AS part
         GROUP BY part.content
        HAVING sum(part.sign) <> 0
        """
                .formatted(table);
    }

    private List<Table> tables() {
        return connection.list(
                Query.of(TABLES), row -> new Table(row.getString("name"), row.getString("quoted")));
    }
}
