package io.mintmark.postgres.log;

import io.mintmark.audit.Checkpoint.Position;
import io.mintmark.audit.SignedCheckpoint;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.postgres.connection.AuditConnection;
import io.mintmark.postgres.connection.DatabaseLogin;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The rows that were added to the log after known positions in its chains. A chain has one writer,
 * who commits a row before the next begins, so no row can appear before a known position, however
 * late an outcome is written. Every method throws {@link StoreUnreachable} if the log can't be
 * read.
 */
public final class LogFeed implements AutoCloseable {
    private static final int FETCH = 2_000;

    /** Uses the indexes of chains, for any number of rows; see {@code PostgresLog}. */
    private static final String SESSION =
            "-c TimeZone=UTC -c enable_sort=off -c enable_seqscan=off -c enable_bitmapscan=off"
                    + " -c enable_incremental_sort=off -c jit=off"
                    + " -c max_parallel_workers_per_gather=0";

    /** Unique in every log: the first change that the migrations made. */
    private static final String ORIGIN =
            """
            SELECT encode(c.hash, 'hex') FROM audit.config_change AS c
             WHERE c.tenant IS NULL AND c.revision = 1
            """;

    /** Jumps from chain to chain along the index; see {@link ChainHeads}. */
    private static final String EVENT_HEADS =
            """
            WITH RECURSIVE known (chain) AS (
                (SELECT e.chain FROM audit.event AS e
                  WHERE e.mint_id >= audit.first_mint_id(now() - cast(? AS interval))
                    AND e.chain IS NOT NULL
                  ORDER BY e.chain LIMIT 1)
                UNION ALL
                SELECT (SELECT e.chain FROM audit.event AS e
                         WHERE e.chain > known.chain
                           AND e.mint_id >= audit.first_mint_id(now() - cast(? AS interval))
                         ORDER BY e.chain LIMIT 1)
                  FROM known WHERE known.chain IS NOT NULL)
            SELECT known.chain AS chain, head.seq AS at, encode(head.hash, 'hex') AS hash
              FROM known
             CROSS JOIN LATERAL (SELECT e.seq, e.hash FROM audit.event AS e
                                  WHERE e.chain = known.chain
                                  ORDER BY e.seq DESC LIMIT 1) AS head
            """;

    private static final String CHANGE_HEADS =
            """
            WITH RECURSIVE known (tenant) AS (
                (SELECT min(c.tenant) FROM audit.config_change AS c)
                UNION ALL
                SELECT (SELECT min(c.tenant) FROM audit.config_change AS c
                         WHERE c.tenant > known.tenant)
                  FROM known WHERE known.tenant IS NOT NULL)
            SELECT known.tenant AS chain, head.revision AS at, encode(head.hash, 'hex') AS hash
              FROM known
             CROSS JOIN LATERAL (SELECT c.revision, c.hash FROM audit.config_change AS c
                                  WHERE c.tenant = known.tenant
                                  ORDER BY c.tenant DESC, c.revision DESC LIMIT 1) AS head
             UNION ALL
            (SELECT NULL, c.revision, encode(c.hash, 'hex') FROM audit.config_change AS c
              WHERE c.tenant IS NULL
              ORDER BY c.tenant DESC, c.revision DESC LIMIT 1)
            """;

    private static final String EVENTS =
            """
            SELECT e.seq AS at, encode(e.hash, 'hex') AS hash, to_jsonb(e)::text AS row
              FROM audit.event AS e
             WHERE e.chain = ? AND e.seq > ? AND e.seq <= ?
             ORDER BY e.seq
            """;

    private static final String CHANGES =
            """
            SELECT c.revision AS at, encode(c.hash, 'hex') AS hash, to_jsonb(c)::text AS row
              FROM audit.config_change AS c
             WHERE c.tenant = ? AND c.revision > ? AND c.revision <= ?
             ORDER BY c.revision
            """;

    private static final String CHANGES_WITHOUT_TENANT =
            """
            SELECT c.revision AS at, encode(c.hash, 'hex') AS hash, to_jsonb(c)::text AS row
              FROM audit.config_change AS c
             WHERE c.tenant IS NULL AND c.revision > ? AND c.revision <= ?
             ORDER BY c.revision
            """;

    private static final String CHECKPOINTS =
            """
            SELECT number, sealed_at, jws, announced_by
              FROM audit.checkpoint
             WHERE number %s ?
             ORDER BY number
            """;

    private static final String OUTSIDE =
            "SELECT count(*)::text FROM audit.event AS e WHERE e.chain IS NULL";

    private static final String LATELY = "35 days";
    private static final String EVER = "50 years";

    private final Connection connection;
    private final LogLookups lookups;

    /**
     * A row of a chain.
     *
     * @param place where it stands
     * @param json all columns
     */
    public record Added(Position place, String json) {}

    private interface Parameters {
        void bind(PreparedStatement statement) throws SQLException;
    }

    private interface Reader {
        void read(ResultSet row) throws SQLException;
    }

    /** Opens a connection of its own. */
    public LogFeed(DatabaseLogin login) {
        this.connection = AuditConnection.open(login, SESSION);
        this.lookups = new LogLookups(connection);
    }

    /** Lets go of the state that was read; what is read next is read as the log is then. */
    public void release() {
        try {
            connection.rollback();
        } catch (SQLException e) {
            throw AuditConnection.unreachable(e);
        }
    }

    /** Identifies the log; restored copies have the same identifier. */
    public String origin() {
        List<String> found = new ArrayList<>();
        read(ORIGIN, _ -> {}, row -> found.add(row.getString(1)));
        if (found.isEmpty()) {
            throw new StoreUnreachable("the first change of the audit log is missing", false, null);
        }
        return found.getFirst();
    }

    /**
     * The ends of the chains of {@code audit.event}.
     *
     * @param everything all that ever were; else those of the last weeks
     */
    public List<Position> eventHeads(boolean everything) {
        String since = everything ? EVER : LATELY;
        return heads(
                EVENT_HEADS,
                statement -> {
                    statement.setString(1, since);
                    statement.setString(2, since);
                });
    }

    /** The ends of the chains of {@code audit.config_change}. */
    public List<Position> changeHeads() {
        return heads(CHANGE_HEADS, _ -> {});
    }

    private List<Position> heads(String sql, Parameters parameters) {
        List<Position> heads = new ArrayList<>();
        read(
                sql,
                parameters,
                row -> heads.add(place(row, Optional.ofNullable(row.getString("chain")))));
        return heads;
    }

    private static Position place(ResultSet row, Optional<String> chain) throws SQLException {
        return new Position(chain, row.getLong("at"), row.getString("hash"));
    }

    /** The rows of a chain of {@code audit.event} after a place and up to a head, in order. */
    public void events(Position head, long after, Consumer<Added> each) {
        rows(EVENTS, head, after, each);
    }

    /** The same of {@code audit.config_change}; no chain: the tables without tenant. */
    public void changes(Position head, long after, Consumer<Added> each) {
        rows(head.chain().isPresent() ? CHANGES : CHANGES_WITHOUT_TENANT, head, after, each);
    }

    private void rows(String sql, Position head, long after, Consumer<Added> each) {
        read(
                sql,
                statement -> {
                    int next = 1;
                    if (head.chain().isPresent()) {
                        statement.setString(next++, head.chain().get());
                    }
                    statement.setLong(next++, after);
                    statement.setLong(next, head.at());
                },
                row -> each.accept(new Added(place(row, head.chain()), row.getString("row"))));
    }

    /** The checkpoints after a number. */
    public void checkpoints(long after, Consumer<SignedCheckpoint> each) {
        read(
                CHECKPOINTS.formatted(">"),
                statement -> statement.setLong(1, after),
                row -> each.accept(PostgresSeals.checkpoint(row)));
    }

    /** The hash of a checkpoint; none: there is no such one. */
    public Optional<String> checkpointHash(long number) {
        List<SignedCheckpoint> found = new ArrayList<>();
        read(
                CHECKPOINTS.formatted("="),
                statement -> statement.setLong(1, number),
                row -> found.add(PostgresSeals.checkpoint(row)));
        return found.stream().findFirst().map(SignedCheckpoint::hash);
    }

    /** The hashes that rows of {@code audit.event} have, in the order asked; null: no such row. */
    public List<@Nullable String> eventHashes(List<Position> places) {
        return lookups.eventHashes(places);
    }

    /** The same of {@code audit.config_change}. */
    public List<@Nullable String> changeHashes(List<Position> places) {
        return lookups.changeHashes(places);
    }

    /** The number of rows without a chain, which a feed of the chains doesn't return. */
    public long outside() {
        List<String> count = new ArrayList<>();
        read(OUTSIDE, _ -> {}, row -> count.add(row.getString(1)));
        return Long.parseLong(count.getFirst());
    }

    private void read(String sql, Parameters parameters, Reader each) {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setFetchSize(FETCH);
            parameters.bind(statement);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    each.read(rows);
                }
            }
        } catch (SQLException e) {
            throw AuditConnection.unreachable(e);
        }
    }

    @Override
    public void close() {
        AuditConnection.close(connection);
    }
}
