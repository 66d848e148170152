package io.mintmark.audit.log;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Cosignature;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;

import org.jspecify.annotations.Nullable;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The rows that were added to the log after known positions in its chains. A chain has one writer,
 * who commits a row before the next begins, so no row can appear before a known position, however
 * late an outcome is written. Every method throws {@link StoreUnreachable} if the log can't be
 * read.
 */
public final class LogFeed implements AutoCloseable {
    /** Unique in every log: the first change that the migrations made. */
    private static final String ORIGIN =
            """
            SELECT encode(c.hash, 'hex') FROM audit.config_change AS c
             WHERE c.tenant IS NULL AND c.revision = 1
            """;

    private static final String ALL_CHANGE_HEADS =
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

    /** The ends of the chains that have changes which weren't committed at the horizon. */
    private static final String CHANGE_HEADS_SINCE =
            """
            WITH grown AS MATERIALIZED (
                 SELECT DISTINCT c.tenant FROM audit.config_change AS c WHERE c.transaction_id >= ?)
            SELECT grown.tenant AS chain, head.revision AS at, encode(head.hash, 'hex') AS hash
              FROM grown
             CROSS JOIN LATERAL (SELECT c.revision, c.hash FROM audit.config_change AS c
                                  WHERE c.tenant = grown.tenant
                                  ORDER BY c.tenant DESC, c.revision DESC LIMIT 1) AS head
             UNION ALL
            (SELECT NULL, c.revision, encode(c.hash, 'hex') FROM audit.config_change AS c
              WHERE c.tenant IS NULL AND EXISTS (SELECT FROM grown WHERE grown.tenant IS NULL)
              ORDER BY c.tenant DESC, c.revision DESC LIMIT 1)
            """;

    /** The oldest transaction that is open: the changes of earlier ones are visible or undone. */
    private static final String HORIZON =
            "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon";

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
            SELECT number, sealed_at, jws, announced_by, note
              FROM audit.checkpoint
             WHERE number %s ?
             ORDER BY number
            """;

    private static final String COSIGNATURES =
            """
            SELECT number, tree, size, witness, line, received_at
              FROM audit.cosignature
             WHERE number > ?
             ORDER BY number
            """;

    private static final String OUTSIDE =
            "SELECT count(*) FROM audit.event AS e WHERE e.chain IS NULL";

    private final AuditConnection connection;
    private final LogLookups lookups;
    private OptionalLong horizon = OptionalLong.empty();

    /**
     * A row of a chain.
     *
     * @param place where it stands
     * @param json all columns
     */
    public record Added(Position place, String json) {}

    /** Opens a connection of its own. */
    public LogFeed(DatabaseLogin login) {
        this.connection = new AuditConnection(login, AuditConnection.ALONG_CHAINS);
        this.lookups = new LogLookups(connection);
    }

    /** Ends the transaction. The next query reads the log as it is then. */
    public void release() {
        connection.release();
    }

    /** Identifies the log; restored copies have the same identifier. */
    public String origin() {
        return connection.list(Query.of(ORIGIN), row -> row.getString(1)).stream()
                .findFirst()
                .orElseThrow(() ->
                        new StoreUnreachable(
                                "the first change of the audit log is missing", false, null));
    }

    /**
     * The ends of the chains of {@code audit.event}.
     *
     * @param everything all that ever were; else those of the last weeks
     */
    public List<Position> eventHeads(boolean everything) {
        return heads(EventChains.heads(everything));
    }

    /**
     * The ends of the chains of {@code audit.config_change}.
     *
     * @param everything all of them; else of those that may have grown since this feed was last
     *     asked
     */
    public List<Position> changeHeads(boolean everything) {
        long next = connection.list(Query.of(HORIZON), row -> row.getLong("horizon")).getFirst();
        List<Position> heads =
                heads(
                        everything || horizon.isEmpty()
                                ? Query.of(ALL_CHANGE_HEADS)
                                : Query.of(CHANGE_HEADS_SINCE, horizon.getAsLong()));
        horizon = OptionalLong.of(next);
        return heads;
    }

    private List<Position> heads(Query query) {
        return connection.list(query, row -> place(row, Query.text(row, "chain")));
    }

    private static Position place(ResultSet row, Optional<String> chain) throws SQLException {
        return new Position(chain, row.getLong("at"), row.getString("hash"));
    }

    /** The rows of a chain of {@code audit.event} after a place and up to a head, in order. */
    public void events(Position head, long after, Consumer<Added> each) {
        rows(Query.of(EVENTS, head.chain(), after, head.at()), head, each);
    }

    /**
     * Reads the rows of {@code audit.config_change} after a place and up to a head, in order. A
     * head without chain stands for the tables without tenant.
     */
    public void changes(Position head, long after, Consumer<Added> each) {
        rows(
                head.chain().isPresent()
                        ? Query.of(CHANGES, head.chain(), after, head.at())
                        : Query.of(CHANGES_WITHOUT_TENANT, after, head.at()),
                head,
                each);
    }

    private void rows(Query query, Position head, Consumer<Added> each) {
        connection.each(
                query,
                row -> each.accept(new Added(place(row, head.chain()), row.getString("row"))));
    }

    public void checkpoints(long after, Consumer<SignedCheckpoint> each) {
        connection.each(
                Query.of(CHECKPOINTS.formatted(">"), after),
                row -> each.accept(CheckpointRow.withNote(row)));
    }

    /** Reads the cosignatures after this number, in the order of arrival. */
    public void cosignatures(long after, Consumer<Cosignature> each) {
        connection.each(
                Query.of(COSIGNATURES, after), row -> each.accept(CheckpointRow.cosignature(row)));
    }

    /** The hash of a checkpoint; empty if there is no checkpoint with this number. */
    public Optional<String> checkpointHash(long number) {
        return connection
                .list(Query.of(CHECKPOINTS.formatted("="), number), CheckpointRow::read)
                .stream()
                .findFirst()
                .map(SignedCheckpoint::hash);
    }

    /** The hashes of rows of {@code audit.event}, in the order asked; null for a missing row. */
    public List<@Nullable String> eventHashes(List<Position> places) {
        return lookups.eventHashes(places);
    }

    /**
     * The hashes of rows of {@code audit.config_change}, in the order asked; null for a missing
     * row.
     */
    public List<@Nullable String> changeHashes(List<Position> places) {
        return lookups.changeHashes(places);
    }

    /** The number of rows without a chain, which a feed of the chains doesn't return. */
    public long outside() {
        return connection.list(Query.of(OUTSIDE), row -> row.getLong(1)).getFirst();
    }

    @Override
    public void close() {
        connection.close();
    }
}
