package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint.LostEnd;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Checkpoint.RetiredRows;
import io.mintmark.auditor.verify.RetirementVerification.Run;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ObjLongConsumer;

/** The position up to which each chain was sealed, and the rows of it that were retired. */
final class SealedHeads {
    private final Map<Optional<String>, Position> starts = new HashMap<>();
    private final Map<Optional<String>, Long> last = new HashMap<>();
    private final Map<Optional<String>, TreeMap<Long, RetiredRows>> retired = new HashMap<>();
    private final Map<Optional<String>, List<LostEnd>> lost = new HashMap<>();
    private final Set<Optional<String>> seen = new HashSet<>();

    /** Takes a range of places in a chain. */
    interface Range {
        void accept(long first, long last);
    }

    void add(Position head) {
        last.merge(head.chain(), head.at(), Math::max);
    }

    /** A head that a part of the log begins behind. */
    void addStart(Position head) {
        starts.merge(head.chain(), head, (one, other) -> one.at() >= other.at() ? one : other);
    }

    /** The predecessor of the chain's first row; position 0 where the chain begins here. */
    Position start(@Nullable String chain) {
        Optional<String> name = Optional.ofNullable(chain);
        return starts.getOrDefault(name, new Position(name, 0, CanonicalForm.ORIGIN));
    }

    void add(RetiredRows rows) {
        retired.computeIfAbsent(Optional.of(rows.chain()), _ -> new TreeMap<>())
                .put(rows.first(), rows);
    }

    /** Takes rows that may be missing, for example because they were declared lost. */
    void excuse(LostEnd rows) {
        List<LostEnd> ends = lost.computeIfAbsent(rows.chain(), _ -> new ArrayList<>());
        ends.add(rows);
        ends.sort(Comparator.comparingLong(LostEnd::first));
    }

    /** Takes the only rows that are read, by chain and first row; all others may be missing. */
    void excuseAllBut(Map<Optional<String>, NavigableMap<Long, Run>> read) {
        for (Optional<String> chain : last.keySet()) {
            long next = 1;
            for (Run run : read.getOrDefault(chain, Collections.emptyNavigableMap()).values()) {
                if (run.first() > next) {
                    excuse(new LostEnd(chain, next, run.first() - 1));
                }
                next = run.last() + 1;
            }
            excuse(new LostEnd(chain, next, Long.MAX_VALUE - 1));
        }
    }

    /** Passes on the missing ranges that no declaration excuses. */
    private Range unlessLost(Optional<String> chain, Range missing) {
        return (first, last) -> {
            long next = first;
            for (LostEnd end : lost.getOrDefault(chain, List.of())) {
                if (next <= last && end.last() >= next && end.first() <= last) {
                    if (end.first() > next) {
                        missing.accept(next, end.first() - 1);
                    }
                    next = end.last() + 1;
                }
            }
            if (next <= last) {
                missing.accept(next, last);
            }
        };
    }

    /** The place up to which the chain was sealed; 0 if it never was. */
    long last(@Nullable String chain) {
        return last.getOrDefault(Optional.ofNullable(chain), 0L);
    }

    /**
     * Checks whether missing rows were retired, or declared lost.
     *
     * @param lacking receives the ranges that were not
     * @return the hash of the last retired row, if the range ends with one
     */
    Optional<String> retired(@Nullable String chain, long first, long upTo, Range lacking) {
        Range missing = unlessLost(Optional.ofNullable(chain), lacking);
        long next = first;
        Optional<String> hash = Optional.empty();
        var parts = retired.getOrDefault(Optional.ofNullable(chain), new TreeMap<>());
        Long begun = parts.floorKey(first);
        for (RetiredRows part : parts.tailMap(begun == null ? first : begun).values()) {
            if (part.last() < first) {
                continue;
            }
            if (part.first() > upTo) {
                break;
            }
            if (part.first() > next) {
                missing.accept(next, part.first() - 1);
            }
            next = part.last() + 1;
            hash = Optional.of(part.hash());
        }
        if (next <= upTo) {
            missing.accept(next, upTo);
            return Optional.empty();
        }
        return hash;
    }

    /** The number of sealed rows that weren't retired. */
    long count() {
        long sealed = last.values().stream().mapToLong(Long::longValue).sum();
        long before = starts.values().stream().mapToLong(Position::at).sum();
        long gone =
                retired.values().stream()
                        .flatMap(parts -> parts.values().stream())
                        .mapToLong(rows -> rows.last() - rows.first() + 1)
                        .sum();
        return sealed - before - gone;
    }

    void see(@Nullable String chain) {
        if (last(chain) > 0) {
            seen.add(Optional.ofNullable(chain));
        }
    }

    /** Chains that were sealed and that no row is left of, though not all was retired. */
    void unseen(ObjLongConsumer<@Nullable String> lost) {
        last.forEach((chain, at) -> {
            if (!seen.contains(chain)) {
                boolean[] missing = new boolean[1];
                long first = start(chain.orElse(null)).at() + 1;
                var _ = retired(chain.orElse(null), first, at, (_, _) -> missing[0] = true);
                if (missing[0]) {
                    lost.accept(chain.orElse(null), at);
                }
            }
        });
    }
}
