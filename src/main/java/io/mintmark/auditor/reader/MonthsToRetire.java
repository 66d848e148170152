package io.mintmark.auditor.reader;

import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.log.AuditConnection;
import io.mintmark.auditor.verify.LogReader.Row;
import io.mintmark.auditor.verify.LogReader.StoredCheckpoint;
import io.mintmark.auditor.verify.RetirementVerification;
import io.mintmark.auditor.verify.RetirementVerification.Run;
import io.mintmark.base.sql.Query;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/** The months of {@code audit.event} before one, whose rows have smaller mint ids. */
final class MonthsToRetire implements RetirementVerification.Months {
    private static final String FIRST_MINT =
            "SELECT audit.first_mint_id(cast(? AS timestamptz))::text";

    private static final String RUNS =
            """
            SELECT chain, min(seq) AS first, max(seq) AS last
              FROM (SELECT chain, seq,
                           seq - row_number() OVER (PARTITION BY chain ORDER BY seq) AS nr
                      FROM internal.event_place
                     WHERE mint_id < cast(? AS uuid) AND chain IS NOT NULL) AS numbered
             GROUP BY chain, nr
             ORDER BY chain, first
            """;

    private static final int MINT = 0;

    private final PostgresLog log;
    private final AuditConnection connection;

    /** The first mint id of the first month that isn't retired. */
    private final String end;

    MonthsToRetire(PostgresLog log, AuditConnection connection, YearMonth before) {
        this.log = log;
        this.connection = connection;
        this.end =
                connection
                        .list(
                                Query.of(FIRST_MINT, before.atDay(1) + "T00:00:00Z"),
                                row -> row.getString(1))
                        .getFirst();
    }

    @Override
    public void checkpoints(Consumer<StoredCheckpoint> each) {
        log.checkpoints(each);
    }

    @Override
    public List<Run> runs() {
        return connection.list(
                Query.of(RUNS, end),
                row -> new Run(row.getString("chain"), row.getLong("first"), row.getLong("last")));
    }

    @Override
    public boolean contain(Row row) {
        return String.valueOf(row.fields().get(MINT)).compareTo(end) < 0;
    }

    @Override
    public <T> void events(List<Run> runs, Function<Row, T> judge, BiConsumer<Row, T> each) {
        for (String which : conditions(runs)) {
            log.events(which, judge, each);
        }
        log.events("WHERE e.chain IS NULL AND e.mint_id < '%s'".formatted(end), judge, each);
    }

    /** The conditions as text with quoted literals, because {@code COPY} takes no parameters. */
    private List<String> conditions(List<Run> runs) {
        List<String> conditions = new ArrayList<>();
        connection.use(connected -> {
            PGConnection quoting = connected.unwrap(PGConnection.class);
            for (Run run : runs) {
                conditions.add(
                        "WHERE e.chain = '%s' AND e.seq BETWEEN %d AND %d ORDER BY e.chain, e.seq"
                                .formatted(
                                        quoting.escapeLiteral(run.chain()),
                                        run.first(),
                                        run.last()));
            }
        });
        return conditions;
    }

    @Override
    public List<@Nullable String> eventHashes(List<Position> positions) {
        return log.eventHashes(positions);
    }
}
