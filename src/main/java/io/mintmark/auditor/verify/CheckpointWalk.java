package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.Checkpoint.Named;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Follows the checkpoints, and checks that the rows that they sealed are unchanged. */
final class CheckpointWalk {
    /** The number of missing checkpoints of one gap that are named. */
    private static final int SHOWN = 3;

    private final TrustedKeys keys;
    private final Findings findings;
    private final Optional<SealedRange> part;
    private final boolean exported;
    private final SealedPositions sealed;
    private final ForeignCheckpoints foreign = new ForeignCheckpoints();
    private final ForeignCheckpoints foreignCopies = new ForeignCheckpoints();
    private final RetiredMonths retired;
    private final CheckpointTimes times;
    private final Declarations declarations;

    private boolean whole = true;
    private long number;
    private long held;
    private long last;
    private @Nullable String previous;
    private @Nullable String key;
    private Optional<Instant> begunAt = Optional.empty();

    /**
     * @param rows that the checkpoints seal
     */
    CheckpointWalk(ComparedRows rows, TrustedKeys keys, Findings findings) {
        this.keys = keys;
        this.findings = findings;
        this.part = rows.part();
        this.exported = rows.exported();
        Instant now = InstantSource.system().instant();
        this.retired = new RetiredMonths(now);
        this.times = new CheckpointTimes(findings, now);
        this.declarations = new Declarations(findings);
        this.sealed = new SealedPositions(rows, this::wrong);
    }

    /** Takes the next checkpoint of the log; returns what it says if a trusted key signed it. */
    Optional<Checkpoint> stored(LogReader.StoredCheckpoint row) {
        SignedCheckpoint signed = row.signed();
        if (part.filter(it -> signed.number() > it.upTo()).isPresent()) {
            wrong(signed.number(), "comes after the last checkpoint of the part");
            return Optional.empty();
        }
        boolean follows = signed.number() == number + 1;
        missing(signed.number());
        number = signed.number();
        Optional<TrustedKeys.Opened> found = opened(signed, row.origin());
        found.ifPresent(opened -> {
            Checkpoint checkpoint = opened.checkpoint();
            if (follows && !checkpoint.previous().equals(Optional.ofNullable(previous))) {
                wrong(number, "doesn't follow the checkpoint before it");
            }
            judgeKey(checkpoint, opened.announcer());
            times.judge(checkpoint);
            checkpoint.declared().ifPresent(declared -> declarations.add(signed, declared));
            retire(signed, checkpoint);
            Optional<Instant> since = times.add(checkpoint);
            sealed.add(
                    signed.number(),
                    checkpoint.events(),
                    checkpoint.changes(),
                    since.filter(_ -> follows && sealed.isWithin(signed.number())));
            held++;
            last = signed.number();
            if (part.filter(it -> it.after() == last).isPresent()) {
                begunAt = sealedAt();
            }
        });
        previous = signed.hash();
        return found.map(TrustedKeys.Opened::checkpoint);
    }

    /** Reports checkpoints that come before the next one. A part has only some from before it. */
    private void missing(long next) {
        long known = Math.max(number, part.map(it -> it.after() - 1).orElse(0L));
        for (long lost = known + 1; lost < next && lost <= known + SHOWN; lost++) {
            wrong(lost, "is missing");
        }
    }

    /**
     * Reports checkpoints that no broker made, unless they were disowned. Call it after the last
     * stored checkpoint.
     */
    void judgeForeign() {
        part.ifPresent(it -> missing(it.upTo() + 1));
        if (held == 0 && foreign.count() > 0) {
            whole = false;
            foreign.judgeKeys(keys, findings);
        } else if (held == 0) {
            findings.wrong(
                    number == 0 && exported
                            ? "The export has no checkpoint, so nothing is proven; write it with"
                                    + " --all"
                            : "No checkpoint is valid, so nothing is proven");
        } else if (foreign.judge(declarations, findings)) {
            whole = false;
        }
    }

    /**
     * A checkpoint that was kept elsewhere and is missing from the log. What it sealed still
     * counts, except for what was declared lost with it. Rows that a lost checkpoint retired were
     * restored with the rest.
     */
    void kept(SignedCheckpoint signed) {
        Checkpoint checkpoint = keys.open(signed).checkpoint();
        if (declarations.name(new Named(signed.number(), signed.hash()))) {
            sealed.add(
                    signed.number(),
                    without(checkpoint.events(), declarations::loseEvent),
                    without(checkpoint.changes(), declarations::loseChange),
                    Optional.empty());
        } else {
            retire(signed, checkpoint);
            sealed.add(
                    signed.number(), checkpoint.events(), checkpoint.changes(), Optional.empty());
        }
    }

    /**
     * Whether a checkpoint that was kept elsewhere belongs to another broker, because no trusted
     * key signed it. Such checkpoints are reported after the last one.
     */
    boolean isOfOthers(SignedCheckpoint signed) {
        return foreignCopies.takes(signed, keys, "The kept copy of checkpoint %d %s");
    }

    /**
     * A checkpoint from before a part that the part lacks. What it sealed of the configuration
     * shows mints on a state that was outdated then, also if somebody removed it from the part.
     */
    void keptBeforePart(SignedCheckpoint signed) {
        boolean tells =
                part.filter(it -> signed.number() <= it.after()).isPresent()
                        && signed.unverified().filter(it -> !it.changes().isEmpty()).isPresent();
        if (tells && !isOfOthers(signed)) {
            List<Position> changes = keys.open(signed).checkpoint().changes();
            boolean lost = declarations.name(new Named(signed.number(), signed.hash()));
            sealed.add(
                    signed.number(),
                    List.of(),
                    lost ? without(changes, declarations::loseChange) : changes,
                    Optional.empty());
        }
    }

    private static List<Position> without(List<Position> heads, Predicate<Position> lost) {
        return heads.stream().filter(head -> !lost.test(head)).toList();
    }

    /**
     * Reports foreign copies and compares the sealed heads. Call this after the last kept
     * checkpoint.
     *
     * @param own whether any of them is of a trusted key
     */
    void end(boolean own) {
        if (own) {
            foreignCopies.tell(keys, findings);
        } else if (foreignCopies.count() > 0 && foreign.count() == 0) {
            foreignCopies.judgeKeys(keys, findings);
        }
        sealed.compare();
    }

    private Optional<TrustedKeys.Opened> opened(SignedCheckpoint signed, String origin) {
        try {
            TrustedKeys.Opened opened = keys.open(signed);
            opened.flaws().forEach(flaw -> wrong(signed.number(), flaw));
            return Optional.of(opened);
        } catch (IllegalArgumentException e) {
            foreign.add(
                    signed,
                    "Checkpoint %d %s. %s. This checkpoint seals nothing, so the verification ignores it"
                            .formatted(signed.number(), e.getMessage(), origin));
            return Optional.empty();
        }
    }

    private void judgeKey(Checkpoint checkpoint, @Nullable String announcer) {
        if (key != null && !key.equals(checkpoint.key()) && !key.equals(announcer)) {
            findings.told(
                    "Checkpoint %d is the first one signed by key %s, but the previous key did not announce that key"
                            .formatted(checkpoint.number(), checkpoint.key()));
        }
        key = checkpoint.key();
    }

    /** A part doesn't show when the rows of a month were sealed, so its reader has to decide. */
    private void retire(SignedCheckpoint signed, Checkpoint checkpoint) {
        if (part.isEmpty()) {
            retired.checkpoint(signed, checkpoint);
        } else if (!checkpoint.retired().isEmpty()) {
            findings.declared(
                    "Checkpoint %d retired %s. A part of the log can't prove that; verify the whole log"
                            .formatted(
                                    signed.number(),
                                    checkpoint.retired().stream()
                                            .map(month -> month.month().toString())
                                            .toList()),
                    signed.hash());
        }
        sealed.retire(checkpoint);
    }

    void wrong(long checkpoint, String predicate) {
        whole = false;
        findings.wrong("Checkpoint %d %s".formatted(checkpoint, predicate));
    }

    SealedPositions sealed() {
        return sealed;
    }

    RetiredMonths retired() {
        return retired;
    }

    Declarations declarations() {
        return declarations;
    }

    /** The number of the last one that is stored, whether it holds or not; 0 without any. */
    long lastStored() {
        return number;
    }

    long last() {
        return last;
    }

    long held() {
        return held;
    }

    /** The time of the checkpoint that a part begins after. */
    Optional<Instant> begunAt() {
        return begunAt;
    }

    /** The time of the last checkpoint that holds. */
    Optional<Instant> sealedAt() {
        return times.last();
    }

    boolean isWhole() {
        return whole;
    }
}
