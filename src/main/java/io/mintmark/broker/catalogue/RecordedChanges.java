package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The identity providers and tenants that were changed after a snapshot, by the history of changes.
 * Its cost depends on the number of these changes only.
 *
 * @param snapshot up to which these are all
 * @param database which start of which database answered
 * @param counters of rows written to the two tables, with or without a record in the history.
 *     PostgreSQL counts a write within a second of the commit, or ten seconds later in a session
 *     that stays open
 * @param rows one for each change, of which not all are listed if there are many
 */
record RecordedChanges(String snapshot, String database, String counters, List<Row> rows) {
    /** More rows than that aren't listed. */
    private static final int MOST = 1_000;

    /** The name of the state before any snapshot. */
    static final String NO_SNAPSHOT = "";

    private static final String IDENTITY_PROVIDER = "identity_provider";

    /**
     * A transaction that was open at the last snapshot may have committed since. A row that was
     * imported with its history has the number of a transaction of another database.
     */
    private static final String SQL =
            """
            SELECT cast(jsonb_build_object(
                       'snapshot', cast(pg_current_snapshot() AS text),
                       'database', concat_ws(' ', pg_postmaster_start_time(), (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())),
                       'counters', (SELECT string_agg(concat_ws(' ', cast(t.id AS oid), pg_relation_filenode(t.id), pg_stat_get_tuples_inserted(t.id),
                                                                pg_stat_get_tuples_updated(t.id), pg_stat_get_tuples_deleted(t.id)), ', ')
                                      FROM unnest(cast('{broker.identity_provider,broker.tenant}' AS regclass[])) AS t (id)),
                       'rows', (SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]')
                                  FROM (SELECT c.table_name, c.former_name, c.name FROM log.issuer_change AS c
                                         WHERE c.transaction_id >= cast(cast(pg_snapshot_xmin(cast(nullif(:last, '') AS pg_snapshot)) AS text) AS bigint)
                                           AND NOT pg_visible_in_snapshot(cast(cast(c.transaction_id AS text) AS xid8), cast(nullif(:last, '') AS pg_snapshot))
                                           AND pg_visible_in_snapshot(cast(cast(c.transaction_id AS text) AS xid8), pg_current_snapshot())
                                         ORDER BY c.transaction_id LIMIT %d) AS r)) AS text) AS document
            """
                    .formatted(MOST);

    /** A change of a row, which has another name after a renaming. */
    record Row(String table, List<String> names) {
        static Row of(JsonNode row) {
            return new Row(
                    row.path("table_name").asText(),
                    Stream.of("former_name", "name")
                            .flatMap(name -> DocumentFields.text(row, name).stream())
                            .toList());
        }
    }

    /** Reads the changes since a snapshot. */
    static RecordedChanges since(String last, Documents documents) {
        JsonNode read = documents.read(SQL, Map.of("last", last)).getFirst();
        return new RecordedChanges(
                read.path("snapshot").asText(),
                read.path("database").asText(),
                read.path("counters").asText(),
                StreamSupport.stream(read.path("rows").spliterator(), false).map(Row::of).toList());
    }

    /** Whether there may be more than are listed. */
    boolean areTooMany() {
        return rows.size() == MOST;
    }

    /** The names of the identity providers among them, before and after the change. */
    List<String> providers() {
        return names(row -> row.table().equals(IDENTITY_PROVIDER));
    }

    /** The names of the tenants among them, before and after the change. */
    List<String> tenants() {
        return names(row -> !row.table().equals(IDENTITY_PROVIDER));
    }

    private List<String> names(Predicate<Row> ofTable) {
        return rows.stream()
                .filter(ofTable)
                .flatMap(row -> row.names().stream())
                .distinct()
                .toList();
    }
}
