package io.mintmark.audit.log;

import io.mintmark.audit.checkpoint.Checkpoint.Leaf;
import io.mintmark.audit.checkpoint.Checkpoint.LostEnd;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Cosignature;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.Query;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/** Finds single rows of the log by their places, many with one question, in the order asked. */
public final class LogLookups {
    private static final String CHECKPOINT_TEXTS =
            """
            SELECT (SELECT c.jws FROM audit.checkpoint AS c WHERE c.number = wanted.number)
              FROM unnest(?::bigint[]) WITH ORDINALITY AS wanted (number, place)
             ORDER BY place
            """;

    private static final String LAST_EVENT =
            "SELECT max(e.seq)::text FROM internal.event_place AS e WHERE e.chain = ?";

    private static final String GAPS =
            """
            SELECT chain, before + 1 AS first, seq - 1 AS last
              FROM (SELECT chain, seq,
                           lag(seq, 1, cast(0 AS bigint)) OVER (PARTITION BY chain ORDER BY seq) AS before
                      FROM internal.event_place WHERE chain IS NOT NULL) AS placed
             WHERE seq > before + 1
             ORDER BY chain, seq
            """;

    private static final String EVENT_HASHES =
            """
            SELECT (SELECT encode(e.hash, 'hex') FROM internal.event_place AS e
                     WHERE e.chain = wanted.chain AND e.seq = wanted.at LIMIT 1)
              FROM unnest(?::text[], ?::bigint[]) WITH ORDINALITY AS wanted (chain, at, place)
             ORDER BY place
            """;

    private static final String CHANGE_HASHES =
            """
            SELECT CASE WHEN wanted.chain IS NULL
                   THEN (SELECT encode(c.hash, 'hex') FROM internal.change_place AS c
                          WHERE c.tenant IS NULL AND c.revision = wanted.at)
                   ELSE (SELECT encode(c.hash, 'hex') FROM internal.change_place AS c
                          WHERE c.tenant = wanted.chain AND c.revision = wanted.at) END
              FROM unnest(?::text[], ?::bigint[]) WITH ORDINALITY AS wanted (chain, at, place)
             ORDER BY place
            """;

    private static final String EVENT_RANGES =
            """
            SELECT part.place, coalesce(encode(e.hash, 'hex'), '') AS hash,
                   trunc(extract(epoch FROM e.occurred_at) * 1000000)::text AS micros
              FROM unnest(?::text[], ?::bigint[], ?::bigint[])
                   WITH ORDINALITY AS part (chain, first, last, place)
             CROSS JOIN LATERAL (SELECT e.seq, e.hash, e.occurred_at FROM audit.event AS e
                                  WHERE e.chain = part.chain
                                    AND e.seq BETWEEN part.first AND part.last) AS e
             ORDER BY part.place, e.seq
            """;

    private static final String CHANGE_RANGES =
            """
            SELECT part.place, coalesce(encode(c.hash, 'hex'), '') AS hash,
                   trunc(extract(epoch FROM c.changed_at) * 1000000)::text AS micros
              FROM unnest(?::text[], ?::bigint[], ?::bigint[])
                   WITH ORDINALITY AS part (tenant, first, last, place)
             CROSS JOIN LATERAL (
                   SELECT c.revision, c.hash, c.changed_at FROM audit.config_change AS c
                    WHERE c.tenant = part.tenant AND c.revision BETWEEN part.first AND part.last
                    UNION ALL
                   SELECT c.revision, c.hash, c.changed_at FROM audit.config_change AS c
                    WHERE part.tenant IS NULL AND c.tenant IS NULL
                      AND c.revision BETWEEN part.first AND part.last) AS c
             ORDER BY part.place, c.revision
            """;

    private static final String COSIGNATURES =
            """
            SELECT number, tree, size, witness, line, received_at
              FROM audit.cosignature
             ORDER BY tree, size, witness
            """;

    private static final int BATCH = 500;

    private static final String CHECKPOINTS_SINCE =
            """
            SELECT number, sealed_at, jws, announced_by, note
              FROM audit.checkpoint
             WHERE sealed_at >= coalesce(cast(? AS timestamptz), '-infinity')
             ORDER BY number
            """;

    private final AuditConnection connection;

    public LogLookups(AuditConnection connection) {
        this.connection = connection;
    }

    public List<@Nullable String> checkpointTexts(List<Long> numbers) {
        return texts(Query.of(CHECKPOINT_TEXTS, numbers));
    }

    /**
     * Looks at checkpoints of a time and later, by number, until there is an answer.
     *
     * @param since empty: from the first
     */
    public <T> Optional<T> firstCheckpoint(
            Optional<Instant> since, Function<SignedCheckpoint, Optional<T>> look) {
        List<T> found = new ArrayList<>();
        connection.use(it ->
                Query.of(CHECKPOINTS_SINCE, since)
                        .fetching(BATCH)
                        .<Boolean>read(
                                it,
                                rows -> {
                                    while (found.isEmpty() && rows.next()) {
                                        look.apply(CheckpointRow.withNote(rows))
                                                .ifPresent(found::add);
                                    }
                                    return true;
                                }));
        return found.stream().findFirst();
    }

    /** Reads the cosignatures in the order of the trees and their sizes. */
    public void cosignatures(Consumer<Cosignature> each) {
        connection.each(Query.of(COSIGNATURES), row -> each.accept(CheckpointRow.cosignature(row)));
    }

    public long lastEvent(String chain) {
        String last = texts(Query.of(LAST_EVENT, chain)).getFirst();
        return last == null ? 0 : Long.parseLong(last);
    }

    /** The rows of {@code audit.event} that are missing before others of their chain. */
    public void gaps(Consumer<LostEnd> each) {
        connection.each(
                Query.of(GAPS),
                row ->
                        each.accept(
                                new LostEnd(
                                        Optional.of(row.getString("chain")),
                                        row.getLong("first"),
                                        row.getLong("last"))));
    }

    public List<@Nullable String> eventHashes(List<Position> positions) {
        return hashes(EVENT_HASHES, positions);
    }

    public List<@Nullable String> changeHashes(List<Position> positions) {
        return hashes(CHANGE_HASHES, positions);
    }

    public List<List<Leaf>> eventRanges(List<Position> ranges) {
        return ranges(EVENT_RANGES, ranges);
    }

    public List<List<Leaf>> changeRanges(List<Position> ranges) {
        return ranges(CHANGE_RANGES, ranges);
    }

    private List<List<Leaf>> ranges(String sql, List<Position> ranges) {
        List<List<Leaf>> leaves = new ArrayList<>();
        ranges.forEach(_ -> leaves.add(new ArrayList<>()));
        Query query =
                Query.of(
                        sql,
                        ranges.stream().map(range -> range.chain().orElse(null)).toList(),
                        ranges.stream().map(Position::first).toList(),
                        ranges.stream().map(Position::at).toList());
        connection.each(
                query,
                row ->
                        leaves.get(row.getInt("place") - 1)
                                .add(new Leaf(row.getString("hash"), row.getString("micros"))));
        return leaves;
    }

    private List<@Nullable String> hashes(String sql, List<Position> positions) {
        return texts(
                Query.of(
                        sql,
                        positions.stream().map(position -> position.chain().orElse(null)).toList(),
                        positions.stream().map(Position::at).toList()));
    }

    private List<@Nullable String> texts(Query query) {
        List<@Nullable String> texts = new ArrayList<>();
        connection.each(query, row -> texts.add(row.getString(1)));
        return texts;
    }
}
