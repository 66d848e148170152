package io.mintmark.auditor.reader;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.auditor.reader.PlacedLine.Chain;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Which revisions were in force before an event was committed. A checkpoint reads the heads of the
 * changes before those of the events, so an event that it doesn't seal was committed after the
 * changes that it seals, and can't have been decided on older ones.
 */
final class SealedStates {
    private final SortedLines lines;
    private final int events;
    private final int changes;
    private final Cache<Chain, Range> ranges =
            Caffeine.newBuilder().maximumSize(CacheBounds.places()).executor(Runnable::run).build();
    private final Cache<Place, Long> positions =
            Caffeine.newBuilder().maximumSize(CacheBounds.places()).executor(Runnable::run).build();

    /**
     * A range of revisions, the end exclusive, and the first checkpoint that sealed a later
     * revision.
     */
    private record Range(long from, long until, Seal first) {}

    /**
     * The first checkpoint that seals a revision.
     *
     * @param since when the revision wasn't committed yet; empty if unknown
     */
    record Seal(long checkpoint, Optional<Instant> since) {
        private static final Seal NONE = new Seal(Long.MAX_VALUE, Optional.empty());

        private static Seal of(PlacedLine line) {
            String[] parts = line.text().split(" ", 2);
            return new Seal(
                    Long.parseLong(parts[0]),
                    Optional.of(parts[1]).filter(it -> !it.isEmpty()).map(Instant::parse));
        }
    }

    private record Place(String chain, long checkpoint) {}

    /**
     * @param lines where the heads are sorted
     * @param events group of lines for heads of events
     * @param changes group of lines for heads of changes
     */
    SealedStates(SortedLines lines, int events, int changes) {
        this.lines = lines;
        this.events = events;
        this.changes = changes;
    }

    /**
     * What a checkpoint has sealed.
     *
     * @param since when what it is the first to seal wasn't committed yet; empty if unknown
     */
    void add(
            long checkpoint,
            List<Position> eventHeads,
            List<Position> changeHeads,
            Optional<Instant> since)
            throws IOException {
        for (Position head : eventHeads) {
            lines.add(
                    new PlacedLine(
                            new Chain(events, head.chain()),
                            checkpoint,
                            "",
                            Long.toString(head.at())));
        }
        for (Position head : changeHeads) {
            lines.add(
                    new PlacedLine(
                            new Chain(changes, head.chain()),
                            head.at(),
                            "",
                            checkpoint + " " + since.map(Instant::toString).orElse("")));
        }
    }

    /**
     * The checkpoint that had sealed a later revision before an event was committed; none if the
     * revision was in force.
     *
     * @param tenant whose revision is meant; null: that of the tables without tenant
     * @param seq its place there
     */
    Optional<Long> overtaking(@Nullable String tenant, long revision, String chain, long seq)
            throws IOException {
        long checkpoint = later(tenant, revision).checkpoint();
        return checkpoint < Long.MAX_VALUE && position(chain, checkpoint) < seq
                ? Optional.of(checkpoint)
                : Optional.empty();
    }

    /** The first checkpoint that sealed a later revision. */
    Seal later(@Nullable String tenant, long revision) throws IOException {
        Chain chain = new Chain(changes, Optional.ofNullable(tenant));
        Range known = ranges.getIfPresent(chain);
        if (known != null && known.from() <= revision && revision < known.until()) {
            return known.first();
        }
        Optional<PlacedLine> next = lines.after(chain, revision);
        Range found =
                new Range(
                        revision,
                        next.map(line -> line.place().at()).orElse(Long.MAX_VALUE),
                        next.map(Seal::of).orElse(Seal.NONE));
        ranges.put(chain, found);
        return found.first();
    }

    /** Up to where a chain was sealed by a checkpoint and those before it. */
    private long position(String chain, long checkpoint) throws IOException {
        Place place = new Place(chain, checkpoint);
        Long known = positions.getIfPresent(place);
        if (known == null) {
            known =
                    lines.upTo(new Chain(events, Optional.of(chain)), checkpoint)
                            .map(line -> Long.parseLong(line.text()))
                            .orElse(0L);
            positions.put(place, known);
        }
        return known;
    }
}
