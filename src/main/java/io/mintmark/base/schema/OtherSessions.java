package io.mintmark.base.schema;

import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Sessions of other logins that a migration can't pass: a transaction that is open holds a lock on
 * every table and view that it read, and a temporary object depends on the view that it names.
 */
final class OtherSessions {
    private static final String OF_OURS =
            """
            (SELECT n.oid FROM pg_catalog.pg_namespace AS n
              WHERE n.nspname IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work'))
            """;

    private static final String WITH_LOCKS =
            """
            SELECT DISTINCT a.usename, a.pid
              FROM pg_catalog.pg_locks AS l
              JOIN pg_catalog.pg_database AS d ON d.oid = l.database AND d.datname = pg_catalog.current_database()
              JOIN pg_catalog.pg_class AS c ON c.oid = l.relation
              JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid
             WHERE l.granted AND a.pid <> pg_catalog.pg_backend_pid()
               AND c.relnamespace IN %s
            """
                    .formatted(OF_OURS);

    /** A view depends by its rule, and a column by the row type of what it names. */
    private static final String WITH_TEMPORARY_OBJECTS =
            """
            SELECT DISTINCT t.relname, pg_catalog.pg_get_userbyid(t.relowner)
              FROM pg_catalog.pg_class AS t
              LEFT JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = t.oid
              JOIN pg_catalog.pg_depend AS d
                   ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
                   OR d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = t.oid
              LEFT JOIN pg_catalog.pg_type AS y
                   ON d.refclassid = 'pg_catalog.pg_type'::regclass AND y.oid = d.refobjid
              LEFT JOIN pg_catalog.pg_proc AS f
                   ON d.refclassid = 'pg_catalog.pg_proc'::regclass AND f.oid = d.refobjid
              LEFT JOIN pg_catalog.pg_class AS c
                   ON d.refclassid = 'pg_catalog.pg_class'::regclass AND c.oid = d.refobjid
             WHERE t.relpersistence = 't'
               AND coalesce(c.relnamespace, y.typnamespace, f.pronamespace) IN %s
             ORDER BY 1, 2
            """
                    .formatted(OF_OURS);

    /** A session that had a lock each time that it was looked for. */
    record Session(String login, int process) implements Comparable<Session> {
        @Override
        public int compareTo(Session other) {
            return Integer.compare(process, other.process);
        }

        private String words() {
            return "login \"%s\" (process %d)".formatted(login, process);
        }
    }

    private record TemporaryObject(String name, String login) {
        String words() {
            return "\"%s\" of login \"%s\"".formatted(name, login);
        }
    }

    private OtherSessions() {}

    /** The sessions that hold locks on tables and views of the schema now. */
    static Set<Session> withLocks(Connection connection) throws SQLException {
        return new TreeSet<>(
                Query.of(WITH_LOCKS)
                        .list(connection, row -> new Session(row.getString(1), row.getInt(2))));
    }

    /** Names the sessions to end, as the owner can't take their locks. */
    static DatabaseUnfit locked(Set<Session> sessions) {
        if (sessions.isEmpty()) {
            return new DatabaseUnfit(
                    "a migration can't get its locks, because other sessions hold them one after"
                            + " another; try again at a quieter time");
        }
        return new DatabaseUnfit(
                "a migration is waiting for locks that other sessions hold in open transactions: %s. To end these sessions: %s"
                        .formatted(
                                sessions.stream()
                                        .map(Session::words)
                                        .collect(Collectors.joining(", ")),
                                sessions.stream()
                                        .map(session ->
                                                "SELECT pg_terminate_backend(%d)"
                                                        .formatted(session.process()))
                                        .collect(Collectors.joining("; "))));
    }

    /**
     * Refuses to go on if a temporary object of another session depends on what a migration drops.
     *
     * @throws DatabaseUnfit with the sessions to end
     */
    static void requireNoTemporaryObjects(Connection connection) throws SQLException {
        List<TemporaryObject> found =
                Query.of(WITH_TEMPORARY_OBJECTS)
                        .list(
                                connection,
                                row -> new TemporaryObject(row.getString(1), row.getString(2)));
        if (!found.isEmpty()) {
            throw new DatabaseUnfit(
                    "a migration replaces objects that temporary objects of other sessions depend on: %s. To drop these temporary objects, end the sessions: %s"
                            .formatted(
                                    found.stream()
                                            .map(TemporaryObject::words)
                                            .collect(Collectors.joining(", ")),
                                    found.stream()
                                            .map(TemporaryObject::login)
                                            .distinct()
                                            .map(login ->
                                                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '%s'"
                                                            .formatted(login.replace("'", "''")))
                                            .collect(Collectors.joining("; "))));
        }
    }
}
