package io.mintmark.audit.log;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.LogTree;
import io.mintmark.audit.checkpoint.SealStore;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.PostgresEventStore.WrittenHead;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Database.NoConnection;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.QueryFailed;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Supplier;

/** Checkpoints in their table. A row lock sees to it that one replica seals at a time. */
public final class PostgresSeals implements SealStore {
    private static final String LOCK = "SELECT FROM work.sealing FOR UPDATE";

    /** PostgreSQL keeps no history of memberships, so the log does. */
    private static final String RECORD_ROLE_MEMBERS = "SELECT internal.record_role_members()";

    private static final String LAST =
            """
            SELECT number, jws, announced_by, sealed_at
              FROM log.checkpoint
             ORDER BY number DESC
             LIMIT 1
            """;

    private static final String ANNOUNCEMENTS =
            """
            SELECT number, jws, announced_by, sealed_at
              FROM log.checkpoint
             WHERE number > ? AND announced_by IS NOT NULL
             ORDER BY number
            """;

    private static final String STORE =
            """
            INSERT INTO log.checkpoint (number, sealed_at, jws, announced_by, note)
            VALUES (?, ?, ?, ?, ?)
            """;

    /**
     * The time limit for one look at all chains. Other replicas wait for it for no longer than a
     * minute.
     */
    private static final String LONG_LOOK = "SET LOCAL statement_timeout = '30s'";

    private static final String SIGN_LOCK = "UPDATE work.sealing SET sealed_by = ?";

    /**
     * The oldest transaction that is open: the changes of earlier ones are visible, or never will
     * be. After a promotion or a restore the numbers may begin anew, in another timeline.
     */
    private static final String HORIZON =
            """
            SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon,
                   left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline
            """;

    private final Connections connections;
    private final String broker;
    private final Supplier<Optional<WrittenHead>> own;
    private final Optional<SeenHistory> history;
    private final Runnable before;

    /** Changes of older transactions are sealed; null before this replica has sealed. */
    private volatile @Nullable Horizon sealedUpTo;

    private record Horizon(long transaction, String timeline) {
        boolean isBefore(Horizon later) {
            return transaction <= later.transaction && timeline.equals(later.timeline);
        }
    }

    /** The source of a connection for one transaction. */
    interface Connections {
        Connection open() throws SQLException;
    }

    PostgresSeals(Connections connections, String broker) {
        this(connections, broker, Optional::empty, Optional.empty(), () -> {});
    }

    private PostgresSeals(
            Connections connections,
            String broker,
            Supplier<Optional<WrittenHead>> own,
            Optional<SeenHistory> history,
            Runnable before) {
        this.connections = connections;
        this.broker = broker;
        this.own = own;
        this.history = history;
        this.before = before;
    }

    /**
     * @param broker the replica that seals
     */
    public PostgresSeals(Database database, String broker) {
        this(database::connection, broker);
    }

    /**
     * Seals the chain of the same replica's writer as it was written; otherwise a trigger that
     * changes rows during their insert would have its change sealed. After a loss, nothing is
     * sealed until the loss is acknowledged: the declaration is then the first checkpoint.
     *
     * @param writer of the same replica
     * @param history what that replica has seen
     */
    public PostgresSeals(
            Database database, String broker, PostgresEventStore writer, SeenHistory history) {
        this(
                database::connection,
                broker,
                () -> Optional.of(writer.head()),
                Optional.of(history),
                writer::check);
    }

    @Override
    public Optional<SignedCheckpoint> seal(
            boolean everything, Function<Unsealed, Optional<SignedCheckpoint>> sign) {
        before.run();
        try (Connection connection = connections.open()) {
            connection.setAutoCommit(false);
            try {
                recordRoleMembers(connection);
                lock(connection);
                if (everything) {
                    Query.of(LONG_LOOK).execute(connection);
                }
                Horizon horizon = horizon(connection); // before the heads, so never too late
                var heads = new ChainHeads(connection, everything, sealedBefore(horizon), own);
                Optional<SignedCheckpoint> sealed = seal(connection, heads, sign);
                connection.commit();
                sealed.ifPresent(checkpoint -> {
                    sealedUpTo = horizon;
                    history.ifPresent(it -> it.remember(checkpoint));
                });
                return sealed;
            } finally {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        } catch (SQLException | NoConnection | QueryFailed e) {
            throw new StoreUnreachable("the audit log can't be sealed", true, e);
        }
    }

    /**
     * Records changes of role membership in a transaction of their own. A mint that commits before
     * these changes was decided without them; a checkpoint that already sealed them would make that
     * mint look wrong.
     */
    private void recordRoleMembers(Connection connection) throws SQLException {
        lock(connection);
        Query.of(RECORD_ROLE_MEMBERS).execute(connection);
        connection.commit();
    }

    /** Waits for the lock on sealing, which is held until the transaction's end. */
    void lock(Connection connection) throws SQLException {
        Query.of(LOCK).execute(connection);
    }

    /** Seals all chains within a transaction that has the lock. */
    Optional<SignedCheckpoint> sealAll(
            Connection connection, Function<Unsealed, Optional<SignedCheckpoint>> sign)
            throws SQLException {
        return seal(connection, new ChainHeads(connection, true, OptionalLong.empty(), own), sign);
    }

    private Optional<SignedCheckpoint> seal(
            Connection connection,
            ChainHeads heads,
            Function<Unsealed, Optional<SignedCheckpoint>> sign)
            throws SQLException {
        Optional<SignedCheckpoint> last = Query.of(LAST).first(connection, CheckpointRow::read);
        history.ifPresent(it -> it.saw(last));
        LogTree tree = StoredTree.upTo(connection, last.map(SignedCheckpoint::number).orElse(0L));
        Optional<SignedCheckpoint> sealed =
                sign.apply(
                        new Unsealed(
                                last,
                                number -> announcements(connection, number),
                                heads,
                                tree,
                                now(connection)));
        if (sealed.isPresent()) {
            store(connection, sealed.get());
            StoredTree.store(connection, tree.with(sealed.get()), sealed.get().number());
            heads.remember();
        }
        return sealed;
    }

    private static List<SignedCheckpoint> announcements(Connection connection, long after) {
        try {
            return Query.of(ANNOUNCEMENTS, after).list(connection, CheckpointRow::read);
        } catch (SQLException e) {
            throw new StoreUnreachable("the audit log's checkpoints can't be read", true, e);
        }
    }

    private static Horizon horizon(Connection connection) throws SQLException {
        return Query.of(HORIZON)
                .first(
                        connection,
                        row -> new Horizon(row.getLong("horizon"), row.getString("timeline")))
                .orElseThrow();
    }

    private OptionalLong sealedBefore(Horizon now) {
        Horizon sealed = sealedUpTo;
        return sealed != null && sealed.isBefore(now)
                ? OptionalLong.of(sealed.transaction())
                : OptionalLong.empty();
    }

    private static Instant now(Connection connection) throws SQLException {
        return Query.of("SELECT clock_timestamp() AS now")
                .first(connection, row -> Query.time(row, "now"))
                .orElseThrow();
    }

    private void store(Connection connection, SignedCheckpoint sealed) throws SQLException {
        Query.of(
                        STORE,
                        sealed.number(),
                        sealed.sealedAt(),
                        sealed.jws(),
                        sealed.announcedBy(),
                        sealed.note())
                .execute(connection);
        Query.of(SIGN_LOCK, broker).execute(connection);
    }
}
