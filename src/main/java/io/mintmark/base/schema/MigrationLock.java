package io.mintmark.base.schema;

import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The advisory lock with which Flyway lets one process migrate at a time. Any login can take any
 * advisory lock, so the login that has it may be one that never migrates.
 */
final class MigrationLock {
    /**
     * The lock's key as Flyway computes it: Flyway's constant plus the hash of its table's quoted
     * name.
     */
    static final long KEY =
            77_431_708_279_161L
                    + "\"%s\".\"flyway_schema_history\""
                            .formatted(Migrations.HISTORY_SCHEMA)
                            .hashCode();

    private static final String STRANGER =
            """
            SELECT a.usename, a.pid
              FROM pg_catalog.pg_locks AS l
              JOIN pg_catalog.pg_database AS d ON d.oid = l.database AND d.datname = pg_catalog.current_database()
              JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid
             WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
               AND (l.classid::bigint << 32 | l.objid::bigint) = ?
               AND NOT pg_catalog.pg_has_role(a.usesysid, current_user, 'MEMBER')
             LIMIT 1
            """;

    private MigrationLock() {}

    /**
     * Refuses to wait for a login that can't be migrating.
     *
     * @param connection of the owner
     * @throws DatabaseUnfit with the session to end
     */
    static void requireFree(Connection connection) throws SQLException {
        Optional<String> held =
                Query.of(STRANGER, KEY)
                        .first(
                                connection,
                                row ->
                                        ("login \"%s\" (process %d) holds the advisory lock %d,"
                                                        + " which lets only one migration run. To"
                                                        + " end"
                                                        + " that session: SELECT"
                                                        + " pg_terminate_backend(%d)")
                                                .formatted(
                                                        row.getString(1),
                                                        row.getInt(2),
                                                        KEY,
                                                        row.getInt(2)));
        if (held.isPresent()) {
            throw new DatabaseUnfit(held.get());
        }
    }
}
