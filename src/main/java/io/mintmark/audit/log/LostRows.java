package io.mintmark.audit.log;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Timestamp;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The rows that replicas had written or read, and found missing, as after a promotion or a restore.
 * They are kept in the database, so that restarted and further replicas know of them too. Every
 * method throws {@link io.mintmark.base.sql.QueryFailed}.
 */
public final class LostRows {
    private static final Logger log = LoggerFactory.getLogger(LostRows.class);

    private static final String REPORT =
            """
            INSERT INTO work.lost_row (kind, chain, place, hash, after_checkpoint)
            SELECT lost.kind, lost.chain, lost.place, lost.hash,
                   (SELECT coalesce(max(number), 0) FROM log.checkpoint)
              FROM unnest(cast(? AS text[]), cast(? AS text[]), cast(? AS bigint[]), cast(? AS text[]))
                   AS lost (kind, chain, place, hash)
                ON CONFLICT DO NOTHING
            """;

    private static final String UNACKNOWLEDGED =
            """
            SELECT kind, chain, place, hash, after_checkpoint
              FROM work.lost_row
             WHERE acknowledged_by IS NULL
             ORDER BY kind DESC, chain, place
            """;

    private static final String SINCE =
            """
            SELECT number, sealed_at, jws
              FROM log.checkpoint
             WHERE number > ?
             ORDER BY number
            """;

    private static final String ACKNOWLEDGE =
            """
            UPDATE work.lost_row SET acknowledged_by = ?
             WHERE acknowledged_by IS NULL AND after_checkpoint < ?
            """;

    private static final String SKIP_IDS = "SELECT internal.skip_lost_ids()";

    private final Queries queries;
    private final TrustedKeys keys;

    private record Lost(LostRow row, long afterCheckpoint) {}

    private record Declared(long checkpoint, String reason) {}

    /**
     * @param keys those whose declarations count
     */
    public LostRows(Database database, TrustedKeys keys) {
        this(database.writing(), keys);
    }

    LostRows(Queries queries, TrustedKeys keys) {
        this.queries = queries;
        this.keys = keys;
    }

    /**
     * Rows were found missing. Only later checkpoints can acknowledge that, and replicas with
     * {@code AUDIT_ON_LOSS=stop} mint nothing until then.
     */
    public void report(List<LostRow> rows) {
        queries.change(REPORT, LostRow.columns(rows));
    }

    /**
     * Makes sure that no row of the configuration gets an id that a lost row had. The log, answers
     * and notices name rows by their ids.
     */
    public void skipIds() {
        var _ = queries.query(SKIP_IDS, List.of(), row -> row);
    }

    /**
     * The lost rows that no checkpoint declares: {@code audit acknowledge-loss} or {@code audit
     * declare-gap} would.
     */
    public List<LostRow> unacknowledged() {
        List<Lost> lost = lost();
        return declared(lost).isPresent() ? List.of() : lost.stream().map(Lost::row).toList();
    }

    /**
     * The lost rows that no checkpoint declares. If one declares them, records the acknowledgement.
     */
    List<LostRow> awaiting() {
        List<Lost> lost = lost();
        Optional<Declared> declared = declared(lost);
        declared.ifPresent(this::acknowledge);
        return declared.isPresent() ? List.of() : lost.stream().map(Lost::row).toList();
    }

    private List<Lost> lost() {
        return queries.query(
                UNACKNOWLEDGED,
                List.of(),
                row ->
                        new Lost(
                                new LostRow(
                                        LostRow.Kind.of(row.column("kind").get(String.class)),
                                        row.column("chain").get(String.class),
                                        row.column("place").get(Long.class),
                                        row.column("hash").get(String.class)),
                                row.column("after_checkpoint").get(Long.class)));
    }

    private Optional<Declared> declared(List<Lost> lost) {
        return lost.stream()
                .map(Lost::afterCheckpoint)
                .max(Comparator.naturalOrder())
                .flatMap(this::declaredAfter);
    }

    private void acknowledge(Declared declared) {
        queries.change(ACKNOWLEDGE, List.of(declared.checkpoint, declared.checkpoint));
        log.warn("The loss of rows of the audit log was acknowledged: {}", declared.reason);
    }

    private Optional<Declared> declaredAfter(long after) {
        return queries
                .query(
                        SINCE,
                        List.of(after),
                        row ->
                                new SignedCheckpoint(
                                        row.column("number").get(Long.class),
                                        row.column("sealed_at").get(Timestamp.class).toInstant(),
                                        row.column("jws").get(String.class),
                                        Optional.empty()))
                .stream()
                .flatMap(checkpoint ->
                        keys
                                .declared(checkpoint)
                                .map(reason -> new Declared(checkpoint.number(), reason))
                                .stream())
                .findFirst();
    }
}
