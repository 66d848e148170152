package io.mintmark.audit.log;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.Checkpoint.RetiredMonth;
import io.mintmark.audit.checkpoint.Checkpoint.RetiredRows;
import io.mintmark.audit.checkpoint.SealStore;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** Takes months out of {@code audit.event}: their tables stay, detached, for the owner to keep. */
public final class PostgresRetirement {
    private static final String SESSION = "-c lock_timeout=10s";
    private static final String MONTHS =
            """
            SELECT substr(part.relname, 7) AS month
              FROM pg_catalog.pg_inherits AS i
              JOIN pg_catalog.pg_class AS part ON part.oid = i.inhrelid
             WHERE i.inhparent = 'log.event'::regclass
               AND part.relname ~ '^event_[0-9]{4}_[0-9]{2}$'
               AND part.relname < ?
             ORDER BY part.relname
            """;

    /** The end of a mint goes into the month of the mint. */
    private static final String STILL_TO_BE_ENDED =
            """
            SELECT count(*) AS open FROM work.ending
             WHERE key IS NOT NULL AND mint_id < audit.first_mint_id(cast(? AS timestamptz))
            """;

    /** Mints that stayed without outcome, of months that are gone. */
    private static final String FORGET =
            """
            DELETE FROM log.open_mint AS open
             WHERE NOT EXISTS (SELECT FROM log.event AS e WHERE e.mint_id = open.mint_id)
            """;

    /** Sessions that keep the log from being altered. */
    private static final String READERS =
            """
            SELECT string_agg(DISTINCT format('%s of %s', l.pid, coalesce(a.usename, '?')), ', ')
              FROM pg_catalog.pg_locks AS l
              LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid
             WHERE l.granted AND l.pid <> pg_backend_pid()
               AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d
                                  WHERE d.datname = current_database())
               AND (l.relation = 'log.event'::regclass
                    OR l.relation IN (SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i
                                       WHERE i.inhparent = 'log.event'::regclass))
            """;

    /**
     * Limits the lock wait of one attempt, because everything that is written to the log queues
     * behind it.
     */
    private static final String SHORTLY = "SET LOCAL lock_timeout = '200ms'";

    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private static final Duration PAUSE = Duration.ofSeconds(2);

    private final DatabaseLogin login;
    private final Duration timeout;

    /** Makes and signs the checkpoint that retires months. */
    public interface Signer {
        SignedCheckpoint sign(SealStore.Unsealed unsealed, List<RetiredMonth> months);
    }

    /**
     * @param login a member of the owner's role
     * @param timeout for how long to try to get between those who read the log
     */
    public PostgresRetirement(DatabaseLogin login, Duration timeout) {
        this.login = login;
        this.timeout = timeout;
    }

    /**
     * Retires all months before one, in one transaction with the checkpoint that describes them.
     *
     * @return the checkpoint; none if there is no such month
     * @throws StoreUnreachable if it could not be done, with the reason
     */
    public Optional<SignedCheckpoint> retire(YearMonth before, Signer signer) {
        try (Connection connection = login.source("mintmark retire", SESSION).getConnection()) {
            connection.setAutoCommit(false);
            Optional<SignedCheckpoint> sealed = retire(connection, before, signer);
            connection.commit();
            return sealed;
        } catch (SQLException e) {
            throw new StoreUnreachable("nothing was retired: " + e.getMessage(), false, e);
        }
    }

    private Optional<SignedCheckpoint> retire(
            Connection connection, YearMonth before, Signer signer) throws SQLException {
        requireOver(connection, before);
        requireEnded(connection, before);
        List<String> tables = tables(connection, before);
        if (tables.isEmpty()) {
            return Optional.empty();
        }
        List<RetiredMonth> months = new ArrayList<>();
        for (String table : tables) {
            months.add(MonthOfEvents.read(connection, table));
        }
        return Optional.of(sealAndDetach(connection, tables, months, signer));
    }

    /** Requires that the months are over by the database's clock. */
    private static void requireOver(Connection connection, YearMonth before) throws SQLException {
        YearMonth current =
                Query.of("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM') AS month")
                        .first(connection, row -> YearMonth.parse(row.getString("month")))
                        .orElseThrow();
        if (before.isAfter(current)) {
            throw new SQLException(
                    "only past months can be retired; the latest month that --before accepts is %s"
                            .formatted(current));
        }
    }

    private static void requireEnded(Connection connection, YearMonth before) throws SQLException {
        long open =
                Query.of(STILL_TO_BE_ENDED, before.atDay(1) + "T00:00:00Z")
                        .first(connection, row -> row.getLong("open"))
                        .orElseThrow();
        if (open > 0) {
            throw new SQLException(
                    "the credentials of %d mints before %s are not yet revoked at their providers, and the rows about their revocation will belong to these months. Read the reasons in audit.unended, and retry when that view no longer lists these mints"
                            .formatted(open, before));
        }
    }

    /**
     * Detaching a partition needs an exclusive lock for a moment. Readers of the log block it, and
     * writers queue behind the attempt; so each attempt is short, and releases its locks when it
     * fails.
     */
    private SignedCheckpoint sealAndDetach(
            Connection connection, List<String> tables, List<RetiredMonth> months, Signer signer)
            throws SQLException {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            Savepoint before = connection.setSavepoint();
            try {
                SignedCheckpoint sealed = seal(connection, months, signer);
                detach(connection, tables);
                return sealed;
            } catch (SQLException e) {
                if (!LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                    throw e;
                }
                connection.rollback(before);
                if (System.nanoTime() - end > 0) {
                    throw new SQLException(
                            "session %s keeps reading audit.event, so the month can't be detached from it; end that session, or retry later"
                                    .formatted(readers(connection)),
                            e);
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    private static SignedCheckpoint seal(
            Connection connection, List<RetiredMonth> months, Signer signer) throws SQLException {
        PostgresSeals seals = new PostgresSeals(() -> connection, "audit retire");
        seals.lock(connection);
        return seals.sealAll(connection, unsealed -> Optional.of(signer.sign(unsealed, months)))
                .orElseThrow();
    }

    private static void detach(Connection connection, List<String> tables) throws SQLException {
        execute(connection, SHORTLY);
        execute(connection, "LOCK TABLE ONLY log.event IN ACCESS EXCLUSIVE MODE");
        for (String table : tables) {
            execute(connection, "ALTER TABLE log.event DETACH PARTITION log." + table);
        }
        execute(connection, FORGET);
    }

    private static String readers(Connection connection) throws SQLException {
        return Query.of(READERS)
                .first(connection, row -> String.valueOf(row.getString(1)))
                .orElseThrow();
    }

    private static List<String> tables(Connection connection, YearMonth before)
            throws SQLException {
        return Query.of(MONTHS, table(before.toString().replace('-', '_')))
                .list(connection, row -> table(row.getString("month")));
    }

    private static String table(String month) {
        return "event_" + month;
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        Query.of(sql).execute(connection);
    }

    /**
     * The content of a partition of {@code audit.event}, in the form of the checkpoint that retires
     * it.
     */
    private static final class MonthOfEvents {
        private MonthOfEvents() {}

        /**
         * Locks the table, so that nothing is added until the transaction ends, and reads its
         * month.
         */
        static RetiredMonth read(Connection connection, String table) throws SQLException {
            Query.of("LOCK TABLE log.%s IN SHARE MODE".formatted(table)).execute(connection);
            boolean alive =
                    Query.of("SELECT FROM log.%s WHERE expires_at > now() LIMIT 1".formatted(table))
                            .first(connection, _ -> true)
                            .isPresent();
            if (alive) {
                throw new SQLException(
                        ("log.%s records credentials that are still valid; retry when they have"
                                        + " expired")
                                .formatted(table));
            }
            List<RetiredRows> parts =
                    Query.of(parts(table))
                            .list(
                                    connection,
                                    row ->
                                            new RetiredRows(
                                                    row.getString("chain"),
                                                    row.getLong("first"),
                                                    row.getLong("last"),
                                                    row.getString("hash")));
            long rows = parts.stream().mapToLong(part -> part.last() - part.first() + 1).sum();
            String name = table.substring("event_".length()).replace('_', '-');
            return new RetiredMonth(YearMonth.parse(name), rows, parts);
        }

        /** Rows that follow one another, as the ends of each run of them. */
        private static String parts(String table) {
            return """
            SELECT island.chain, island.first, island.last, encode(e.hash, 'hex') AS hash
              FROM (SELECT chain, min(seq) AS first, max(seq) AS last
                      FROM (SELECT chain, seq,
                                   seq - row_number() OVER (PARTITION BY chain ORDER BY seq) AS nr
                              FROM log.%1$s) AS numbered
                     GROUP BY chain, nr) AS island
              JOIN log.%1$s AS e ON e.chain = island.chain AND e.seq = island.last
             ORDER BY island.chain, island.first
            """
                    .formatted(table);
        }
    }
}
