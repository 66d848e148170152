package io.mintmark.base.sql;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Names the session whose lock a statement waited for in vain, or whose locks fill the lock table
 * of the server. Any login that may use a schema can stop others with locks: by LOCK TABLE, by a
 * transaction that it leaves open, or by a statement that waits for an exclusive lock before
 * PostgreSQL checks its privileges.
 */
final class LockWaits {
    static final String LOCK_NOT_AVAILABLE = "55P03";
    static final String OUT_OF_SHARED_MEMORY = "53200";
    private static final Logger log = LoggerFactory.getLogger(LockWaits.class);
    private static final long QUIET = Duration.ofSeconds(10).toNanos();

    /**
     * The wait is over when this is asked, so it looks for the strongest lock on a table of ours
     * that another login has, or waits for. All statements behind one that waits wait too, and the
     * session to end is then the one that has the lock.
     */
    private static final String HOLDER =
            """
            SELECT c.oid::pg_catalog.regclass::text, coalesce(a.usename, x.owner), a.pid, x.gid
              FROM pg_catalog.pg_locks AS l
              JOIN pg_catalog.pg_class AS c ON c.oid = l.relation
              JOIN pg_catalog.pg_database AS d ON d.oid = l.database AND d.datname = pg_catalog.current_database()
              -- a prepared transaction has no process, but a lock on its own id
              LEFT JOIN pg_catalog.pg_locks AS own ON l.pid IS NULL AND own.pid IS NULL AND own.locktype = 'transactionid'
                   AND own.virtualtransaction = l.virtualtransaction
              LEFT JOIN pg_catalog.pg_prepared_xacts AS x ON x.transaction = own.transactionid
             CROSS JOIN LATERAL pg_catalog.unnest(
                   CASE WHEN l.granted THEN ARRAY[l.pid] ELSE pg_catalog.pg_blocking_pids(l.pid) END) AS by (pid)
              LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = by.pid
             WHERE c.relnamespace IN (SELECT n.oid FROM pg_catalog.pg_namespace AS n
                                       WHERE n.nspname IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work'))
               AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
               AND coalesce(a.usename, x.owner) <> SESSION_USER
             ORDER BY pg_catalog.array_position(
                          ARRAY['AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock'], l.mode),
                      l.granted DESC, l.waitstart
             LIMIT 1
            """;

    /**
     * Reads no table: while the lock table is full, a session gets no lock on PostgreSQL's shared
     * tables, which know the logins.
     */
    private static final String MOST_LOCKS =
            """
            SELECT l.pid, pg_catalog.count(*)
              FROM pg_catalog.pg_lock_status() AS l
             WHERE l.pid <> pg_catalog.pg_backend_pid()
             GROUP BY 1
             ORDER BY 2 DESC
             LIMIT 1
            """;

    private final Connections connections;
    private final AtomicLong lastLogged = new AtomicLong(System.nanoTime() - QUIET);

    /**
     * The lock that made a statement fail.
     *
     * @param words the end of a sentence
     * @param end how to end it
     */
    private record Obstacle(String words, String end) {
        static Obstacle session(String words, String login, int process) {
            return new Obstacle(
                    "%s login \"%s\" (process %d)".formatted(words, login, process),
                    terminate(process));
        }

        static Obstacle prepared(String words, String login, String id) {
            return new Obstacle(
                    "%s the prepared transaction '%s' of login \"%s\"".formatted(words, id, login),
                    "To end it, as that login or as a superuser: ROLLBACK PREPARED '%s'"
                            .formatted(id.replace("'", "''")));
        }

        static Obstacle unknown(String words) {
            return new Obstacle(words, "docs/run/database.md shows how to find the session.");
        }
    }

    interface Connections {
        Connection open() throws SQLException;
    }

    LockWaits(Connections connections) {
        this.connections = connections;
    }

    /** Describes and logs the lock that a statement waited for; the text ends a sentence. */
    String describe() {
        return logged(
                find(HOLDER, LockWaits::holder)
                        .orElseGet(() ->
                                Obstacle.unknown("waits for a lock held by another session")));
    }

    /** Describes and logs that the server has no room for another lock. */
    String describeFullTable() {
        return logged(
                find(MOST_LOCKS, LockWaits::mostLocks)
                        .orElseGet(() ->
                                Obstacle.unknown(
                                        "can't take a lock, because the server's lock table is full")));
    }

    private static String terminate(int process) {
        return "To end that session: SELECT pg_terminate_backend(%d)".formatted(process);
    }

    private static Obstacle holder(ResultSet row) throws SQLException {
        String words = "waits for a lock on %s held by".formatted(row.getString(1));
        String prepared = row.getString(4);
        return prepared == null
                ? Obstacle.session(words, row.getString(2), row.getInt(3))
                : Obstacle.prepared(words, row.getString(2), prepared);
    }

    private static Obstacle mostLocks(ResultSet row) throws SQLException {
        int process = row.getInt(1);
        return new Obstacle(
                "can't take a lock, because the server's lock table is full; %d of the locks belong to process %d"
                        .formatted(row.getLong(2), process),
                terminate(process));
    }

    private String logged(Obstacle obstacle) {
        long last = lastLogged.get();
        if (System.nanoTime() - last >= QUIET
                && lastLogged.compareAndSet(last, System.nanoTime())) {
            log.warn(
                    "The broker {}. The requests that are affected get 503. {}",
                    obstacle.words(),
                    obstacle.end());
        }
        return obstacle.words();
    }

    private Optional<Obstacle> find(String sql, Query.Mapping<Obstacle> mapping) {
        try (Connection connection = connections.open()) {
            return Query.of(sql).first(connection, mapping);
        } catch (SQLException | RuntimeException e) {
            log.debug("The session that holds the lock can't be found", e);
            return Optional.empty();
        }
    }
}
