package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.LogTree;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.note.CosignedNote;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.WitnessPolicy;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What witnesses cosigned of a log. A witness that cosigned the tree of a checkpoint saw that it
 * only grew, so it saw all checkpoints up to it: of each witness the last cosignature counts.
 */
final class WitnessedLog implements LogNotes.Noted, AutoCloseable {
    /** The time that checkpoints may wait for the quorum. */
    private static final Duration GRACE = Duration.ofHours(1);

    /** The time by which a witness's clock may be behind those of brokers and of their database. */
    static final Duration CLOCKS = Duration.ofMinutes(5);

    private final WitnessPolicy policy;
    private final Findings findings;
    private final TreeComparison trees;
    private final boolean exported;
    private final StoredCosignatures stored;
    private final Map<String, Cosigned> last = new HashMap<>();
    private final Set<NoteKey> unknown = new HashSet<>();
    private long others;
    private @Nullable SignedCheckpoint first;
    private @Nullable SignedCheckpoint newest;

    /**
     * The last cosignature of a witness.
     *
     * @param next the checkpoint after it
     */
    private record Cosigned(
            SignedCheckpoint checkpoint, long size, Instant at, Optional<SignedCheckpoint> next) {
        private static final Comparator<Map.Entry<String, Cosigned>> NEWEST =
                Comparator.<Map.Entry<String, Cosigned>>comparingLong(
                                it -> it.getValue().checkpoint().number())
                        .reversed()
                        .thenComparing(Map.Entry::getKey);

        private Cosigned before(SignedCheckpoint signed) {
            return next.isPresent()
                    ? this
                    : new Cosigned(checkpoint, size, at, Optional.of(signed));
        }

        private String text() {
            return "The last checkpoint with the quorum is number %d, with the size %d, cosigned at %s"
                    .formatted(checkpoint.number(), size, at);
        }
    }

    /**
     * @param trees takes the times of cosignatures, which no sealed row may be after
     */
    WitnessedLog(LogReader log, WitnessPolicy policy, TreeComparison trees, Findings findings) {
        this.policy = policy;
        this.findings = findings;
        this.trees = trees;
        this.exported = log.tables().isEmpty();
        this.stored =
                new StoredCosignatures(
                        log,
                        (tree, size) ->
                                findings.wrong(
                                        "The log has cosignatures for tree %d with %d checkpoints, but no note of that tree"
                                                .formatted(tree, size)));
    }

    /** The next checkpoint of the log, whether it has cosignatures or not. */
    void sealed(SignedCheckpoint signed) {
        first = first == null ? signed : first;
        newest = signed;
        last.replaceAll((_, it) -> it.before(signed));
    }

    @Override
    public void noted(SignedCheckpoint signed, LogTree tree, String text, NoteKey key) {
        boolean known = policy.hasLogOf(key);
        if (!known && unknown.add(key)) {
            findings.wrong(
                    "Checkpoint %d has a note of a log that the policy doesn't list: log %s"
                            .formatted(signed.number(), key.text()));
        }
        stored.each(
                tree.number(),
                tree.size(),
                line -> {
                    if (known) {
                        judge(signed, tree.size(), text, line);
                    }
                });
    }

    private void judge(SignedCheckpoint signed, long size, String text, String line) {
        CosignedNote cosigned;
        try {
            cosigned = CosignedNote.parse(line);
        } catch (IllegalArgumentException e) {
            wrong(signed, "has a cosignature that can't be read");
            return;
        }
        Optional<WitnessPolicy.Witness> witness =
                policy.witnesses().stream().filter(it -> cosigned.isBy(it.key())).findFirst();
        if (witness.isEmpty()) {
            others++;
            return;
        }
        String name = witness.get().name();
        if (!cosigned.holds(witness.get().key(), text)) {
            wrong(signed, "has an invalid cosignature of %s".formatted(name));
            return;
        }
        Instant at = cosigned.at();
        if (signed.sealedAt().isAfter(at.plus(CLOCKS))) {
            wrong(
                    signed,
                    "was cosigned by %s at %s, although it says that it was sealed at %s"
                            .formatted(name, at, signed.sealedAt()));
        }
        trees.cosigned(signed.number(), at);
        last.put(name, new Cosigned(signed, size, at, Optional.empty()));
    }

    private void wrong(SignedCheckpoint signed, String predicate) {
        findings.wrong("Checkpoint %d %s".formatted(signed.number(), predicate));
    }

    /**
     * Judges whether the quorum cosigned the log; to be called after the last checkpoint.
     *
     * @param now by the verifier's clock
     */
    void end(Instant now) {
        stored.end();
        if (others > 0) {
            findings.told(
                    "%d cosignatures were made by keys that the policy doesn't list"
                            .formatted(others));
        }
        if (policy.isMet(Set.of())) {
            findings.told("The policy requires no witness");
        } else if (newest != null) {
            demand(newest, now);
        }
    }

    private void demand(SignedCheckpoint end, Instant now) {
        Optional<Cosigned> found = quorum();
        if (found.isEmpty()) {
            SignedCheckpoint start = first == null ? end : first;
            findings.wrong(
                    "No checkpoint has the cosignatures that the policy requires; the first checkpoint that must have them is number %d, sealed at %s"
                            .formatted(start.number(), start.sealedAt()));
            return;
        }
        Cosigned quorum = found.get();
        Optional<SignedCheckpoint> missing =
                quorum.next().filter(next -> end.sealedAt().isAfter(next.sealedAt().plus(GRACE)));
        if (missing.isPresent()) {
            findings.wrong(
                    "Checkpoints have lacked the policy's quorum since number %d, sealed at %s. %s"
                            .formatted(
                                    missing.get().number(),
                                    missing.get().sealedAt(),
                                    quorum.text()));
        } else if (!exported && now.isAfter(quorum.at().plus(GRACE))) {
            findings.doubtful(
                    "No checkpoint has reached the quorum for over an hour: brokers are stopped, or the end of the log was removed. "
                            + quorum.text(),
                    end.hash());
        } else {
            findings.told("The policy's quorum cosigned the log. " + quorum.text());
        }
    }

    private Optional<Cosigned> quorum() {
        Set<String> names = new HashSet<>();
        List<Map.Entry<String, Cosigned>> all =
                last.entrySet().stream().sorted(Cosigned.NEWEST).toList();
        for (Map.Entry<String, Cosigned> entry : all) {
            names.add(entry.getKey());
            if (policy.isMet(names)) {
                return Optional.of(entry.getValue());
            }
        }
        return Optional.empty();
    }

    @Override
    public void close() {
        stored.close();
    }
}
