package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;
import io.mintmark.audit.checkpoint.Checkpoint.Declaration;
import io.mintmark.audit.checkpoint.Checkpoint.LostEnd;
import io.mintmark.audit.checkpoint.Checkpoint.Named;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What a log lacks of what it once had, as after a restore: the ends of chains beyond what the
 * restored log had sealed, also where a writer went on behind the lost rows. What is missing before
 * that can't be declared.
 */
public final class LostTails {
    private final LogReader log;
    private final TrustedKeys keys;
    private final Map<Optional<String>, Long> sealedChanges = new HashMap<>();

    public LostTails(LogReader log, TrustedKeys keys) {
        this.log = log;
        this.keys = keys;
    }

    /** The rows that are missing in the middle of chains, whatever the reason. */
    public interface Gaps {
        void each(Consumer<LostEnd> gap);
    }

    /**
     * Looks for it.
     *
     * @param reported last rows of writers that these found missing
     * @return none if every kept checkpoint is in the log, and no row is missing that can be
     *     declared lost
     * @throws IllegalArgumentException if a kept checkpoint isn't of a trusted key; the message is
     *     the end of a sentence about it
     */
    public Optional<Declaration> find(
            Stream<SignedCheckpoint> kept, List<Position> reported, Gaps gaps, String reason) {
        log.checkpoints(this::remember);
        Map<Optional<String>, Position> events = new HashMap<>();
        Map<Optional<String>, Position> changes = new HashMap<>();
        List<Named> lost = new ArrayList<>();
        kept.forEach(each -> {
            Checkpoint checkpoint = keys.open(each).checkpoint();
            if (!each.jws().equals(log.checkpointTexts(List.of(each.number())).getFirst())) {
                lost.add(new Named(each.number(), each.hash()));
                checkpoint.events().forEach(head -> last(events, head));
                checkpoint.changes().forEach(head -> last(changes, head));
            }
        });
        reported.forEach(head -> last(events, head));
        List<LostEnd> lostEvents = new ArrayList<>(ends(events));
        lostEvents.addAll(behind(gaps, sealedBefore(lost)));
        return lost.isEmpty() && lostEvents.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new Declaration(
                                reason,
                                lost,
                                lostEvents,
                                ends(
                                        changes,
                                        log::changeHashes,
                                        chain -> sealedChanges.getOrDefault(chain, 0L))));
    }

    /**
     * The ends of chains that the log lacks.
     *
     * @param reported last rows of writers that these found missing
     */
    public List<LostEnd> ends(List<Position> reported) {
        Map<Optional<String>, Position> events = new HashMap<>();
        reported.forEach(head -> last(events, head));
        return ends(events);
    }

    private List<LostEnd> ends(Map<Optional<String>, Position> events) {
        return ends(events, log::eventHashes, chain -> log.lastEvent(chain.orElseThrow()));
    }

    /** Chains that went on after the loss have a gap, where nothing had been sealed before it. */
    private static List<LostEnd> behind(Gaps gaps, SealedHeads sealed) {
        List<LostEnd> lost = new ArrayList<>();
        gaps.each(gap -> {
            String chain = gap.chain().orElseThrow();
            long first = Math.max(gap.first(), sealed.last(chain) + 1);
            if (first <= gap.last()) {
                var _ =
                        sealed.retired(
                                chain,
                                first,
                                gap.last(),
                                (from, to) -> lost.add(new LostEnd(gap.chain(), from, to)));
            }
        });
        return lost;
    }

    /** The heads of chains that the log's own checkpoints sealed or retired before the loss. */
    private SealedHeads sealedBefore(List<Named> lost) {
        long since = lost.stream().mapToLong(Named::number).min().orElse(Long.MAX_VALUE);
        SealedHeads sealed = new SealedHeads();
        log.checkpoints(stored -> {
            if (stored.signed().number() < since && isTrusted(stored.signed())) {
                Checkpoint checkpoint = keys.open(stored.signed()).checkpoint();
                checkpoint.events().forEach(sealed::add);
                checkpoint.retired().forEach(month -> month.parts().forEach(sealed::add));
            }
        });
        return sealed;
    }

    /** The stored checkpoint with this number, if no trusted key signed it. */
    public Optional<Named> foreign(long number) {
        List<Named> found = new ArrayList<>();
        log.checkpoints(stored -> {
            SignedCheckpoint signed = stored.signed();
            if (!isTrusted(signed) && signed.number() == number) {
                found.add(new Named(number, signed.hash()));
            }
        });
        return found.stream().findFirst();
    }

    /**
     * Whether a trusted key signed a checkpoint. Call this in the order of the checkpoints, because
     * one may announce the key of those after it.
     */
    private boolean isTrusted(SignedCheckpoint signed) {
        try {
            return keys.open(signed).checkpoint().number() == signed.number();
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    /**
     * Up to where the log is sealed as it is, changes of after a restore can't have replaced it.
     */
    private void remember(LogReader.StoredCheckpoint stored) {
        if (isTrusted(stored.signed())) {
            keys.open(stored.signed())
                    .checkpoint()
                    .changes()
                    .forEach(head -> sealedChanges.merge(head.chain(), head.at(), Math::max));
        }
    }

    private static void last(Map<Optional<String>, Position> heads, Position head) {
        heads.merge(head.chain(), head, (one, other) -> one.at() >= other.at() ? one : other);
    }

    private static List<LostEnd> ends(
            Map<Optional<String>, Position> heads,
            Function<List<Position>, List<@Nullable String>> hashes,
            Function<Optional<String>, Long> restored) {
        return heads.values().stream()
                .filter(head -> !head.hash().equals(hashes.apply(List.of(head)).getFirst()))
                .map(head -> new LostEnd(head.chain(), restored.apply(head.chain()) + 1, head.at()))
                .filter(end -> end.first() <= end.last())
                .toList();
    }
}
