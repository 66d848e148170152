package io.mintmark.base.sql;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Names the session whose lock a statement waited for in vain. Any login that may use a schema can
 * stop others with locks: by LOCK TABLE, by a transaction that it leaves open, or by a statement
 * that waits for an exclusive lock before PostgreSQL checks its privileges.
 */
final class LockWaits {
    static final String LOCK_NOT_AVAILABLE = "55P03";
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

    private final Connections connections;
    private final AtomicLong lastLogged = new AtomicLong(System.nanoTime() - QUIET);

    /**
     * Who has the lock.
     *
     * @param prepared the identifier of a prepared transaction, which has no process
     */
    private record Holder(String table, String login, int process, Optional<String> prepared) {
        String words() {
            return prepared.map(id ->
                            "waits for a lock on %s held by the prepared transaction '%s' of login \"%s\""
                                    .formatted(table, id, login))
                    .orElseGet(() ->
                            "waits for a lock on %s held by login \"%s\" (process %d)"
                                    .formatted(table, login, process));
        }

        String end() {
            return prepared.map(id ->
                            "To end it, as that login or as a superuser: ROLLBACK PREPARED '%s'"
                                    .formatted(id.replace("'", "''")))
                    .orElseGet(() ->
                            "To end that session: SELECT pg_terminate_backend(%d)"
                                    .formatted(process));
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
        Optional<Holder> holder = find();
        String described =
                holder.map(Holder::words).orElse("waits for a lock held by another session");
        long last = lastLogged.get();
        if (System.nanoTime() - last >= QUIET
                && lastLogged.compareAndSet(last, System.nanoTime())) {
            log.warn(
                    "The broker {}. Requests that need it get 503. {}",
                    described,
                    holder.map(Holder::end)
                            .orElse("docs/run/database.md shows how to find the session."));
        }
        return described;
    }

    private Optional<Holder> find() {
        try (Connection connection = connections.open()) {
            return Query.of(HOLDER)
                    .first(
                            connection,
                            row ->
                                    new Holder(
                                            row.getString(1),
                                            row.getString(2),
                                            row.getInt(3),
                                            Optional.ofNullable(row.getString(4))));
        } catch (SQLException | RuntimeException e) {
            log.debug("The session that holds the lock can't be found", e);
            return Optional.empty();
        }
    }
}
