package io.mintmark.audit;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Gatherers;
import java.util.stream.Stream;

/** Proves the log, or says what is wrong with it. */
public final class Verification {
    /** How much older than the last checkpoint an unsealed row must be to be reported. */
    private static final Duration SLACK = Duration.ofMinutes(5);

    private static final int STEP = 10_000;

    /** Characters of a row that are shown. */
    private static final int SHOWN = 400;

    private static final int BATCH = 1_000;

    private static final String NO_TABLES =
            "Without a database neither the tables of broker are compared with their history, nor"
                    + " audit.unresolved with the rows";

    private final LogReader log;
    private final Findings findings;
    private final CheckpointWalk checkpoints;
    private long rows;
    private @Nullable SignedCheckpoint lastKept;

    public Verification(LogReader log, TrustedKeys keys, Findings findings) {
        this.log = log;
        this.findings = findings;
        this.checkpoints = new CheckpointWalk(log, keys, findings);
    }

    /**
     * What was looked at.
     *
     * @param checkpoints how many hold
     * @param last the number of the last of them; 0 without any
     * @param whole whether every checkpoint is there and holds
     * @param unsealed rows that no checkpoint covers
     * @param sealedAt the time of the last checkpoint that holds
     * @param kept the last of those that were kept elsewhere
     */
    public record Summary(
            long checkpoints,
            long last,
            boolean whole,
            long events,
            long changes,
            long unsealed,
            Optional<Instant> sealedAt,
            Optional<SignedCheckpoint> kept) {}

    /**
     * Looks at everything once.
     *
     * @param kept checkpoints that were kept elsewhere
     */
    public Summary run(Stream<SignedCheckpoint> kept) {
        log.checkpoints(checkpoints::stored);
        checkpoints.judgeForeign();
        kept.gather(Gatherers.windowFixed(BATCH)).forEach(this::compare);
        checkpoints.compare();
        checkpoints.retired().judge(findings);
        if (checkpoints.held() == 0) {
            findings.wrong("There is no checkpoint that holds, so nothing is proven");
        }
        ChainWalk events = walk(CanonicalForm.EVENT, "Chain", checkpoints.events());
        OpenMints open = new OpenMints(findings);
        log.events(row -> {
            next(events, row);
            open.row(row);
            checkpoints.retired().row(row, log.tables().isEmpty());
        });
        events.end();
        checkpoints.retired().end(findings, log.tables().isEmpty());
        open.compare(log.tables());
        ChainWalk changes = walk(CanonicalForm.CHANGE, "The history", checkpoints.changes());
        log.changes(row -> next(changes, row));
        changes.end();
        log.tables()
                .ifPresentOrElse(
                        tables -> tables.configuration(this::judgeConfiguration),
                        () -> findings.told(NO_TABLES));
        tellEarly(events.early() + changes.early());
        return new Summary(
                checkpoints.held(),
                checkpoints.last(),
                checkpoints.isWhole(),
                events.rows(),
                changes.rows(),
                events.unsealed() + changes.unsealed(),
                checkpoints.sealedAt(),
                Optional.ofNullable(lastKept));
    }

    private void judgeLost(SignedCheckpoint kept, boolean another) {
        boolean exported = log.tables().isEmpty();
        String sentence =
                "Checkpoint %d, as it was kept elsewhere, isn't in the %s%s"
                        .formatted(
                                kept.number(),
                                exported ? "export" : "database",
                                another ? ": another stands in its place" : "");
        if (checkpoints.declarations().name(new Checkpoint.Named(kept.number(), kept.hash()))) {
            findings.told(sentence + "; that was declared");
        } else {
            boolean newer = exported && !another && kept.number() > checkpoints.lastStored();
            findings.wrong(newer ? sentence + end(checkpoints.lastStored()) : sentence);
        }
    }

    /** Why an export may lack what is newer than its last checkpoint. */
    private static String end(long lastStored) {
        return lastStored == 0
                ? ", which has no checkpoint at all: write it with --all"
                : (", which ends with number %d: it is older and has to be continued, its end was"
                                + " cut off, or the log itself lost it")
                        .formatted(lastStored);
    }

    private void judgeConfiguration(LogReader.Difference difference) {
        String row = difference.row();
        findings.wrong(
                (difference.inTable()
                                ? "broker.%s has a row that its history doesn't know: %s"
                                : "broker.%s lacks a row that its history says is there: %s")
                        .formatted(
                                difference.table(),
                                row.length() <= SHOWN ? row : row.substring(0, SHOWN) + "…"));
    }

    private void tellEarly(long early) {
        if (early > 0) {
            findings.told(
                    ("%d rows that no checkpoint covers name a time of before the last one: they"
                                    + " waited for their commit, a clock was wrong, or somebody"
                                    + " put them there")
                            .formatted(early));
        }
    }

    private ChainWalk walk(CanonicalForm form, String what, SealedHeads sealed) {
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
            findings.progress(rows);
        }
    }

    private void compare(List<SignedCheckpoint> kept) {
        List<@Nullable String> stored =
                log.checkpointTexts(kept.stream().map(SignedCheckpoint::number).toList());
        for (int i = 0; i < kept.size(); i++) {
            if (lastKept == null || lastKept.number() < kept.get(i).number()) {
                lastKept = kept.get(i);
            }
            String text = stored.get(i);
            if (text == null || !text.equals(kept.get(i).jws())) {
                judgeLost(kept.get(i), text != null);
                checkpoints.kept(kept.get(i));
            }
        }
    }
}
