package io.mintmark.audit;

import io.mintmark.audit.Checkpoint.Named;
import io.mintmark.audit.Checkpoint.Position;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Follows the checkpoints, and looks whether the rows that they sealed are still the same. Heads
 * are looked up many at a time, so that a log of years needs no more memory than one of days.
 */
final class CheckpointWalk {
    private static final int BATCH = 1_000;

    /** How far clocks may differ: the verifier's, and those of servers that replaced each other. */
    private static final Duration SKEW = Duration.ofHours(1);

    private final LogReader log;
    private final TrustedKeys keys;
    private final Findings findings;
    private final SealedHeads events = new SealedHeads();
    private final SealedHeads changes = new SealedHeads();
    private final List<Sealed> eventBatch = new ArrayList<>();
    private final List<Sealed> changeBatch = new ArrayList<>();

    private final List<Foreign> foreign = new ArrayList<>();
    private final Instant now = InstantSource.system().instant();
    private final RetiredMonths retired = new RetiredMonths(now);
    private final Declarations declarations;

    private boolean whole = true;
    private long number;
    private long held;
    private long last;
    private @Nullable String previous;
    private @Nullable String key;
    private Optional<Instant> sealedAt = Optional.empty();

    private record Sealed(long checkpoint, Position head) {}

    private record Foreign(Named checkpoint, String sentence) {}

    CheckpointWalk(LogReader log, TrustedKeys keys, Findings findings) {
        this.log = log;
        this.keys = keys;
        this.findings = findings;
        this.declarations = new Declarations(findings);
    }

    /** The next checkpoint of the database. */
    void stored(LogReader.StoredCheckpoint row) {
        SignedCheckpoint signed = row.signed();
        for (long lost = number + 1; lost < signed.number() && lost <= number + 3; lost++) {
            wrong(lost, "is missing");
        }
        boolean gap = signed.number() != number + 1;
        number = signed.number();
        opened(signed, row.origin())
                .ifPresent(opened -> {
                    Checkpoint checkpoint = opened.checkpoint();
                    if (!gap && !checkpoint.previous().equals(Optional.ofNullable(previous))) {
                        wrong(number, "doesn't follow the checkpoint before it");
                    }
                    judgeKey(checkpoint, opened.announcer());
                    judgeTime(checkpoint);
                    checkpoint.declared().ifPresent(declared -> declarations.add(signed, declared));
                    retire(signed, checkpoint);
                    seals(checkpoint, _ -> false, _ -> false);
                    held++;
                    last = signed.number();
                    sealedAt = Optional.of(checkpoint.sealedAt());
                });
        previous = signed.hash();
    }

    /**
     * To be called after the last that is stored: those that no broker made are told, unless they
     * were disowned.
     */
    void judgeForeign() {
        for (Foreign found : foreign) {
            if (!declarations.name(found.checkpoint())) {
                whole = false;
                findings.foreign(found.sentence());
            }
        }
    }

    /**
     * A checkpoint that the database has lost; what it sealed holds all the same, but for what was
     * declared to be lost with it. What a lost one retired was restored with the rest.
     */
    void kept(SignedCheckpoint signed) {
        try {
            Checkpoint checkpoint = keys.open(signed).checkpoint();
            boolean declared = declarations.name(new Named(signed.number(), signed.hash()));
            if (!declared) {
                retire(signed, checkpoint);
            }
            seals(
                    checkpoint,
                    head -> declared && declarations.loseEvent(head),
                    head -> declared && declarations.loseChange(head));
        } catch (IllegalArgumentException e) {
            findings.foreign(
                    "Checkpoint %d, as it was kept, %s".formatted(signed.number(), e.getMessage()));
        }
    }

    private Optional<TrustedKeys.Opened> opened(SignedCheckpoint signed, String origin) {
        try {
            TrustedKeys.Opened opened = keys.open(signed);
            opened.flaws().forEach(flaw -> wrong(signed.number(), flaw));
            return Optional.of(opened);
        } catch (IllegalArgumentException e) {
            foreign.add(
                    new Foreign(
                            new Named(signed.number(), signed.hash()),
                            "Checkpoint %d %s. %s. It seals nothing; the rest is judged without it"
                                    .formatted(signed.number(), e.getMessage(), origin)));
            return Optional.empty();
        }
    }

    private void judgeKey(Checkpoint checkpoint, @Nullable String announcer) {
        if (key != null && !key.equals(checkpoint.key()) && !key.equals(announcer)) {
            findings.told(
                    "Checkpoint %d is the first of key %s, which the key before it didn't announce"
                            .formatted(checkpoint.number(), checkpoint.key()));
        }
        key = checkpoint.key();
    }

    /**
     * A time that is ahead proves nothing wrong, since a clock may have been, but whoever has the
     * service's login and the key can choose it.
     */
    private void judgeTime(Checkpoint checkpoint) {
        Instant at = checkpoint.sealedAt();
        Instant before = sealedAt.orElse(at);
        if (at.isAfter(now.plus(SKEW))) {
            findings.told(
                    "Checkpoint %d says that it is of %s, which hasn't come yet"
                            .formatted(checkpoint.number(), at));
        } else if (before.isAfter(at.plus(SKEW)) && !before.isAfter(now.plus(SKEW))) {
            findings.told(
                    "The checkpoint before number %d says that it is of %s, and number %d, which came later, of %s"
                            .formatted(checkpoint.number(), before, checkpoint.number(), at));
        }
    }

    private void retire(SignedCheckpoint signed, Checkpoint checkpoint) {
        retired.checkpoint(signed, checkpoint);
        checkpoint.retired().forEach(month -> month.parts().forEach(events::add));
    }

    private void seals(
            Checkpoint checkpoint,
            Predicate<Position> lostEvents,
            Predicate<Position> lostChanges) {
        checkpoint.events().stream()
                .filter(lostEvents.negate())
                .forEach(head -> {
                    events.add(head);
                    eventBatch.add(new Sealed(checkpoint.number(), head));
                });
        checkpoint.changes().stream()
                .filter(lostChanges.negate())
                .forEach(head -> {
                    changes.add(head);
                    changeBatch.add(new Sealed(checkpoint.number(), head));
                });
        if (eventBatch.size() + changeBatch.size() >= BATCH) {
            compare();
        }
    }

    /** Looks up what hasn't been yet; to be called after the last. */
    void compare() {
        compare(eventBatch, log::eventHashes, "chain ");
        compare(changeBatch, log::changeHashes, "the changes of tenant ");
    }

    private void compare(
            List<Sealed> batch,
            Function<List<Position>, List<@Nullable String>> hashes,
            String what) {
        List<@Nullable String> stored = hashes.apply(batch.stream().map(Sealed::head).toList());
        for (int i = 0; i < batch.size(); i++) {
            Position head = batch.get(i).head();
            String hash = stored.get(i);
            if (hash != null && !hash.equals(head.hash())) {
                wrong(
                        batch.get(i).checkpoint(),
                        "sealed another row %d of %s%s"
                                .formatted(head.at(), what, head.chain().orElse("(none)")));
            }
        }
        batch.clear();
    }

    private void wrong(long checkpoint, String predicate) {
        whole = false;
        findings.wrong("Checkpoint %d %s".formatted(checkpoint, predicate));
    }

    SealedHeads events() {
        return events;
    }

    SealedHeads changes() {
        return changes;
    }

    /** What was retired by those that hold. */
    RetiredMonths retired() {
        return retired;
    }

    /** What was declared by those that hold. */
    Declarations declarations() {
        return declarations;
    }

    /** The number of the last one that is stored, whether it holds or not; 0 without any. */
    long lastStored() {
        return number;
    }

    /** The number of the last one that holds; 0 without any. */
    long last() {
        return last;
    }

    /** How many there are that hold. */
    long held() {
        return held;
    }

    /** The time of the last checkpoint that holds. */
    Optional<Instant> sealedAt() {
        return sealedAt;
    }

    /** Whether every checkpoint is there and holds. */
    boolean isWhole() {
        return whole;
    }
}
