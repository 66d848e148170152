package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.auditor.verify.LogReader.Row;
import io.mintmark.auditor.verify.LogReader.StoredCheckpoint;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Verifies months of {@code audit.event} that are about to be retired, under all checkpoints, with
 * the rows of other months that they follow and that follow them. It reads no other row of the log.
 */
public final class RetirementVerification {
    private static final int STEP = 10_000;

    private final Months months;
    private final TrustedKeys keys;
    private final Findings findings;
    private final List<Run> read;
    private final Map<Optional<String>, NavigableMap<Long, Run>> byChain = new HashMap<>();
    private long rows;

    /** Rows that follow one another in their chain. */
    public record Run(String chain, long first, long last) {
        private Run withNeighbours() {
            return new Run(chain, Math.max(1, first - 1), last + 1);
        }

        private boolean meets(Run next) {
            return chain.equals(next.chain()) && next.first() <= last + 1;
        }
    }

    /** The months, in one unchanging state of the log. */
    public interface Months {

        /** The checkpoints of the whole log, in the order of their numbers. */
        void checkpoints(Consumer<StoredCheckpoint> each);

        /** The runs of the months' rows, by chain and place. */
        List<Run> runs();

        /** Whether a row is of one of the months. */
        boolean contain(Row row);

        /**
         * The rows of some runs, in the order of the runs, and after them the rows of the months
         * that are in no chain. See {@link LogReader#events}.
         */
        <T> void events(List<Run> runs, Function<Row, T> judge, BiConsumer<Row, T> each);

        /** See {@link LogReader#eventHashes}. */
        List<@Nullable String> eventHashes(List<Position> positions);
    }

    public RetirementVerification(Months months, TrustedKeys keys, Findings findings) {
        this.months = months;
        this.keys = keys;
        this.findings = findings;
        this.read = withNeighbours(months.runs());
        for (Run run : read) {
            byChain.computeIfAbsent(Optional.of(run.chain()), _ -> new TreeMap<>())
                    .put(run.first(), run);
        }
    }

    /** Joins runs that are adjacent once their neighbouring rows are included. */
    private static List<Run> withNeighbours(List<Run> runs) {
        List<Run> merged = new ArrayList<>();
        for (Run run : runs) {
            Run next = run.withNeighbours();
            if (!merged.isEmpty() && merged.getLast().meets(next)) {
                next = new Run(next.chain(), merged.removeLast().first(), next.last());
            }
            merged.add(next);
        }
        return merged;
    }

    /** Reports the findings; returns how many rows were read. */
    public long run() {
        CheckpointWalk checkpoints =
                new CheckpointWalk(ComparedRows.of(this::hashes), keys, findings);
        months.checkpoints(stored -> {
            var _ = checkpoints.stored(stored);
        });
        checkpoints.judgeForeign();
        new DeclaredLosses(checkpoints.declarations())
                .excused(months::checkpoints, keys)
                .forEach(checkpoints.sealed().events()::excuse);
        checkpoints.sealed().events().excuseAllBut(byChain);
        checkpoints.end(false);
        events(checkpoints);
        return rows;
    }

    private void events(CheckpointWalk checkpoints) {
        ChainWalk chains =
                new ChainWalk(
                        CanonicalForm.EVENT,
                        "chain",
                        checkpoints.sealed().events(),
                        findings,
                        Optional.empty());
        boolean mayLack = checkpoints.declarations().loseEvents();
        try (MintLedger mints = new MintLedger(findings, false, mayLack)) {
            months.events(
                    read,
                    row -> MintStep.read(row, Optional.empty()),
                    (row, step) -> {
                        chains.row(row);
                        if (months.contain(row)) {
                            mints.add(step);
                        }
                        checkpoints.retired().row(row, false);
                        rows++;
                        if (rows % STEP == 0) {
                            findings.progress(rows, rows);
                        }
                    });
            chains.end();
            mints.end(Optional.empty());
        }
        checkpoints.retired().end(findings, false);
    }

    private List<@Nullable String> hashes(List<Position> positions) {
        Iterator<@Nullable String> found =
                months.eventHashes(positions.stream().filter(this::isRead).toList()).iterator();
        List<@Nullable String> hashes = new ArrayList<>();
        positions.forEach(position -> hashes.add(isRead(position) ? found.next() : null));
        return hashes;
    }

    private boolean isRead(Position position) {
        Map.Entry<Long, Run> run =
                byChain.getOrDefault(position.chain(), Collections.emptyNavigableMap())
                        .floorEntry(position.at());
        return run != null && position.at() <= run.getValue().last();
    }
}
