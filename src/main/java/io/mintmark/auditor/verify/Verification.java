package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Gatherers;
import java.util.stream.Stream;

/** Verifies the log and reports what is wrong with it. */
public final class Verification {
    /**
     * A row that no checkpoint seals is reported if it is older than the last checkpoint by more
     * than this.
     */
    private static final Duration SLACK = Duration.ofMinutes(5);

    private static final int STEP = 10_000;

    /** Characters of a row that are shown. */
    private static final int SHOWN = 600;

    private static final int BATCH = 1_000;

    private static final String NO_TABLES =
            "An export does not contain the tables of the schema broker, the view audit.unresolved and the definitions of the schema; verify these in the database";

    private static final String OF_PART =
            "A part of a log lacks the earlier checkpoints, so the cosignatures of witnesses can't be checked; export the whole log";

    private final LogReader log;
    private final TrustedKeys keys;
    private final Optional<WitnessPolicy> policy;
    private final MovedTenants moves;
    private final Findings findings;
    private long rows;
    private long expected;
    private @Nullable SignedCheckpoint lastKept;

    /** Creates a verification with trusted keys that may include keys of other cells. */
    public Verification(LogReader log, TrustedKeys keys, Findings findings) {
        this(log, keys, keys, Optional.empty(), findings);
    }

    /**
     * @param keys that seal this log
     * @param cells those of all cells from which tenants may have come, this one included
     * @param policy names the witnesses that must have cosigned the log
     */
    public Verification(
            LogReader log,
            TrustedKeys keys,
            TrustedKeys cells,
            Optional<WitnessPolicy> policy,
            Findings findings) {
        this.log = log;
        this.keys = keys;
        this.policy = policy;
        this.moves = new MovedTenants(cells, findings);
        this.findings = findings;
    }

    /**
     * The result of a verification.
     *
     * @param checkpoints how many are valid
     * @param last the number of the last of them; 0 without any
     * @param whole whether every checkpoint is present and valid
     * @param unsealed rows that no checkpoint covers
     * @param part the verified part, if it isn't the whole log
     * @param begunAt the time of the checkpoint that the part begins after
     * @param sealedAt the time of the last valid checkpoint
     * @param kept the last of the checkpoints that were kept elsewhere
     */
    public record Summary(
            long checkpoints,
            long last,
            boolean whole,
            long events,
            long changes,
            long unsealed,
            Optional<SealedRange> part,
            Optional<Instant> begunAt,
            Optional<Instant> sealedAt,
            Optional<SignedCheckpoint> kept) {}

    /**
     * Verifies the whole log once.
     *
     * @param kept checkpoints that were kept elsewhere
     */
    public Summary run(Stream<SignedCheckpoint> kept) {
        try (MintProof proof = log.proof(findings)) {
            return run(kept, proof);
        }
    }

    private Summary run(Stream<SignedCheckpoint> kept, MintProof proof) {
        CheckpointWalk checkpoints = checkpoints(kept, proof);
        expected = checkpoints.sealed().events().count() + checkpoints.sealed().changes().count();
        ChainWalk changes =
                walk(
                        CanonicalForm.CHANGE,
                        "the history",
                        checkpoints.sealed().changes(),
                        checkpoints);
        log.changes(
                proof::change,
                (row, parsed) -> {
                    next(changes, row);
                    moves.change(row);
                    parsed.run();
                });
        changes.end();
        moves.end();
        proof.endOfChanges();
        ChainWalk events =
                walk(CanonicalForm.EVENT, "chain", checkpoints.sealed().events(), checkpoints);
        boolean isPart = log.part().isPresent();
        boolean mayLack = checkpoints.declarations().loseEvents();
        try (MintLedger mints = new MintLedger(findings, isPart, mayLack)) {
            log.events(
                    row -> MintStep.read(row, proof.objection(row)),
                    (row, step) -> {
                        next(events, row);
                        mints.add(step);
                        checkpoints.retired().row(row, log.tables().isEmpty());
                    });
            events.end();
            mints.end(log.tables());
        }
        checkpoints.retired().end(findings, log.tables().isEmpty());
        log.tables().ifPresentOrElse(this::judge, () -> findings.told(NO_TABLES));
        long unsealed = events.unsealed() + changes.unsealed();
        judgeUnsealed(unsealed, events.early() + changes.early());
        return new Summary(
                checkpoints.held(),
                checkpoints.last(),
                checkpoints.isWhole(),
                events.rows(),
                changes.rows(),
                unsealed,
                log.part(),
                checkpoints.begunAt(),
                checkpoints.sealedAt(),
                Optional.ofNullable(lastKept));
    }

    private CheckpointWalk checkpoints(Stream<SignedCheckpoint> kept, MintProof proof) {
        CheckpointWalk checkpoints =
                new CheckpointWalk(ComparedRows.of(log, proof), keys, findings);
        TreeComparison trees = new TreeComparison(log, checkpoints::wrong);
        if (policy.isPresent() && log.part().isPresent()) {
            findings.wrong(OF_PART);
        }
        Optional<WitnessPolicy> demanded = policy.filter(_ -> log.part().isEmpty());
        if (demanded.isPresent()) {
            try (WitnessedLog witnessed = new WitnessedLog(log, demanded.get(), trees, findings)) {
                follow(checkpoints, trees, witnessed::sealed, witnessed);
                witnessed.end(InstantSource.system().instant());
            }
        } else {
            follow(checkpoints, trees, _ -> {}, (_, _, _, _) -> {});
        }
        checkpoints.judgeForeign();
        new DeclaredLosses(checkpoints.declarations())
                .excused(log::checkpoints, keys)
                .forEach(checkpoints.sealed().events()::excuse);
        kept.gather(Gatherers.windowFixed(BATCH)).forEach(some -> compare(some, checkpoints));
        checkpoints.end(lastKept != null);
        checkpoints.retired().judge(findings);
        return checkpoints;
    }

    private void follow(
            CheckpointWalk checkpoints,
            TreeComparison trees,
            Consumer<SignedCheckpoint> each,
            LogNotes.Noted noted) {
        LogNotes notes = new LogNotes(log.part().isEmpty(), noted, findings);
        log.checkpoints(stored -> {
            checkpoints.stored(stored).ifPresent(trees::add);
            each.accept(stored.signed());
            notes.stored(stored.signed());
        });
        trees.compare();
    }

    private void judgeLost(SignedCheckpoint kept, boolean another, CheckpointWalk checkpoints) {
        boolean exported = log.tables().isEmpty();
        String sentence =
                "Checkpoint %d, which was kept elsewhere, isn't in the %s%s"
                        .formatted(
                                kept.number(),
                                exported ? "export" : "database",
                                another ? ": another checkpoint has its number" : "");
        if (checkpoints.declarations().name(new Checkpoint.Named(kept.number(), kept.hash()))) {
            findings.told(sentence + "; a declaration names this checkpoint");
        } else {
            boolean newer = exported && !another && kept.number() > checkpoints.lastStored();
            findings.wrong(newer ? sentence + end(checkpoints.lastStored()) : sentence);
        }
    }

    /** The reasons why an export may lack rows newer than its last checkpoint, in words. */
    private static String end(long lastStored) {
        return lastStored == 0
                ? ", which has no checkpoint at all: write the export with --all"
                : (", which ends with number %d: the export is older and must be continued, its"
                                + " end was removed, or the log itself lost the checkpoint")
                        .formatted(lastStored);
    }

    private void judge(LogReader.LogTables tables) {
        tables.configuration(this::judgeConfiguration);
        tables.definitions(findings::altered);
    }

    private void judgeConfiguration(LogReader.Difference difference) {
        String row = difference.row();
        findings.wrong(
                (difference.inTable()
                                ? "broker.%s has a row that is not in its history: %s"
                                : "broker.%s lacks a row that is in its history: %s")
                        .formatted(
                                difference.table(),
                                row.length() <= SHOWN ? row : row.substring(0, SHOWN) + "…"));
    }

    private void judgeUnsealed(long unsealed, long early) {
        if (log.part().isPresent() && unsealed > 0) {
            findings.wrong(
                    "%d rows of this part are not sealed by any of its checkpoints"
                            .formatted(unsealed));
        } else if (early > 0) {
            findings.told(
                    ("%d rows that no checkpoint covers are dated before the last checkpoint: their"
                                    + " commit was delayed, a clock was wrong, or they were inserted later")
                            .formatted(early));
        }
    }

    private ChainWalk walk(
            CanonicalForm form, String what, SealedHeads sealed, CheckpointWalk checkpoints) {
        return new ChainWalk(
                form,
                what,
                sealed,
                findings,
                checkpoints.sealedAt().map(time -> time.minus(SLACK)));
    }

    private void next(ChainWalk walk, LogReader.Row row) {
        walk.row(row);
        rows++;
        if (rows % STEP == 0) {
            findings.progress(rows, expected);
        }
    }

    /** A part needs only some of the checkpoints from before it, and none from after it. */
    private void compare(List<SignedCheckpoint> kept, CheckpointWalk checkpoints) {
        List<@Nullable String> stored =
                log.checkpointTexts(kept.stream().map(SignedCheckpoint::number).toList());
        for (int i = 0; i < kept.size(); i++) {
            SignedCheckpoint copy = kept.get(i);
            String text = stored.get(i);
            boolean outside = log.part().filter(part -> !part.has(copy.number())).isPresent();
            if (outside && text == null) {
                remember(copy);
                checkpoints.keptBeforePart(copy);
            } else if (copy.jws().equals(text)) {
                remember(copy);
            } else if (!checkpoints.isOfOthers(copy)) {
                remember(copy);
                judgeLost(copy, text != null, checkpoints);
                checkpoints.kept(copy);
            }
        }
    }

    private void remember(SignedCheckpoint kept) {
        if (lastKept == null || lastKept.number() < kept.number()) {
            lastKept = kept;
        }
    }
}
