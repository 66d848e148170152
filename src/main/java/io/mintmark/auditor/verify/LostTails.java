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
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What a log lacks of what checkpoints kept elsewhere say that it once had, as after a restore: the
 * ends of chains, beyond what the restored log still has. What is missing before that can't be
 * declared.
 */
public final class LostTails {
    private final LogReader log;
    private final TrustedKeys keys;
    private final Map<Optional<String>, Long> sealedChanges = new HashMap<>();

    public LostTails(LogReader log, TrustedKeys keys) {
        this.log = log;
        this.keys = keys;
    }

    /**
     * Looks for it.
     *
     * @return none if every kept checkpoint is in the log
     * @throws IllegalArgumentException if a kept checkpoint isn't of a trusted key; the message is
     *     the end of a sentence about it
     */
    public Optional<Declaration> find(Stream<SignedCheckpoint> kept, String reason) {
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
        return lost.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new Declaration(
                                reason,
                                lost,
                                ends(
                                        events,
                                        log::eventHashes,
                                        chain -> log.lastEvent(chain.orElseThrow())),
                                ends(
                                        changes,
                                        log::changeHashes,
                                        chain -> sealedChanges.getOrDefault(chain, 0L))));
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

    /** Looked at in their order, since one may announce the key of those after it. */
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
