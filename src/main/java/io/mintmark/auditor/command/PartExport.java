package io.mintmark.auditor.command;

import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Cosignature;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.LogFeed;
import io.mintmark.audit.note.TreeHead;
import io.mintmark.auditor.verify.SealedRange;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.output.Progress;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Exports the rows of a time together with all that proves them: the checkpoints around them, and
 * the history of the configuration from its beginning. Such a part of a log verifies by itself.
 */
final class PartExport {
    /**
     * The time after the end within which outcomes of earlier mints may be committed and sealed.
     */
    private static final Duration SLACK = Duration.ofHours(1);

    /** The number of characters after which they are written. */
    private static final int STEP = 8 * 1024 * 1024;

    private final LogFeed feed;
    private final ExportSink sink;
    private final Map<Optional<String>, Sealed> starts = new HashMap<>();
    private final Map<Optional<String>, Sealed> events = new HashMap<>();
    private final Map<Optional<String>, Sealed> changes = new HashMap<>();

    /** Without these, a mint on a state that was outdated before the part would pass. */
    private final Map<Optional<String>, Sealed> changesBefore = new HashMap<>();

    private final Set<Long> around = new TreeSet<>();

    /** The sizes of the part's notes, by their origins. */
    private final Map<String, LongSummaryStatistics> noted = new HashMap<>();

    private final Progress progress = new Progress();
    private long count;

    /** A position in a chain, and the checkpoint that sealed it. */
    private record Sealed(Position head, long checkpoint) {}

    PartExport(LogFeed feed, ExportSink sink) {
        this.feed = feed;
        this.sink = sink;
    }

    /**
     * Writes the rows that were sealed from the first checkpoint after {@code from} up to the first
     * one that is an hour after {@code to}.
     *
     * @throws CommandFailed if there is no such checkpoint, or the rows were retired
     */
    void write(Optional<Instant> from, Optional<Instant> to) {
        SealedRange part = part(from.orElse(Instant.MIN), to.map(end -> end.plus(SLACK)));
        feed.checkpoints(0, signed -> see(signed, part));
        line(part.line());
        changes.values().forEach(last -> feed.changes(last.head(), 0, row -> line(row.json())));
        events.forEach((chain, last) -> events(Optional.ofNullable(starts.get(chain)), last));
        changes.values().forEach(last -> around.add(last.checkpoint()));
        changesBefore.values().forEach(last -> around.add(last.checkpoint()));
        feed.checkpoints(
                0,
                signed -> {
                    if (part.has(signed.number()) || around.contains(signed.number())) {
                        line(signed.line());
                        signed.treeHead().ifPresent(this::note);
                    }
                });
        feed.cosignatures(
                0,
                signed -> {
                    if (isOfNote(signed)) {
                        line(signed.json());
                    }
                });
        var _ = sink.commit();
        progress.clear();
    }

    private void note(TreeHead head) {
        noted.computeIfAbsent(head.origin(), _ -> new LongSummaryStatistics()).accept(head.size());
    }

    private boolean isOfNote(Cosignature signed) {
        return noted.entrySet().stream()
                .filter(tree -> tree.getKey().endsWith("/audit/" + signed.tree()))
                .map(Map.Entry::getValue)
                .anyMatch(sizes ->
                        sizes.getMin() <= signed.size() && signed.size() <= sizes.getMax());
    }

    private SealedRange part(Instant from, Optional<Instant> end) {
        long[] after = {0};
        long[] upTo = {0};
        boolean[] begun = {false};
        boolean[] ended = {false};
        feed.checkpoints(
                0,
                signed -> {
                    begun[0] |= !signed.sealedAt().isBefore(from);
                    after[0] = begun[0] ? after[0] : signed.number();
                    upTo[0] = ended[0] ? upTo[0] : signed.number();
                    ended[0] |= end.filter(at -> !signed.sealedAt().isBefore(at)).isPresent();
                });
        if (upTo[0] <= after[0]) {
            throw new CommandFailed(
                    "--from: no checkpoint has been sealed since then, so no row since then can be proven yet. Retry in a minute, or choose an earlier time; a running broker seals every minute");
        }
        if (end.isPresent() && !ended[0]) {
            System.err.printf(
                    "mintmark: the newest checkpoint, number %d, is less than an hour after --to:"
                            + " outcomes that are sealed later aren't in this export%n",
                    upTo[0]);
        }
        return new SealedRange(after[0], upTo[0]);
    }

    /** Notes up to where chains are sealed, and what a verifier needs from before the part. */
    private void see(SignedCheckpoint signed, SealedRange part) {
        long number = signed.number();
        if (number > part.upTo()) {
            return;
        }
        if (number == part.after() || signed.announcedBy().isPresent()) {
            around.add(number);
        }
        Map<Optional<String>, Sealed> known = part.has(number) ? events : starts;
        signed.unverified()
                .ifPresent(checkpoint -> {
                    checkpoint
                            .events()
                            .forEach(head -> known.put(head.chain(), new Sealed(head, number)));
                    checkpoint
                            .changes()
                            .forEach(head -> {
                                Sealed sealed = new Sealed(head, number);
                                changes.put(head.chain(), sealed);
                                if (!part.has(number)) {
                                    changesBefore.put(head.chain(), sealed);
                                }
                            });
                });
    }

    private void events(Optional<Sealed> start, Sealed last) {
        start.ifPresent(before -> around.add(before.checkpoint()));
        long[] at = {start.map(before -> before.head().at()).orElse(0L)};
        feed.events(
                last.head(),
                at[0],
                row -> {
                    requireIsThere(at[0] + 1, row.place().at(), last);
                    at[0] = row.place().at();
                    line(row.json());
                });
        requireIsThere(at[0] + 1, last.head().at() + 1, last);
    }

    private static void requireIsThere(long expected, long found, Sealed last) {
        if (found != expected) {
            throw new CommandFailed(
                    "row %d of chain %s, which checkpoint %d sealed, isn't in the log. If its month was retired, use an older export; otherwise run audit verify"
                            .formatted(
                                    expected, last.head().chain().orElse(""), last.checkpoint()));
        }
    }

    private void line(String text) {
        sink.write(text + "\n");
        count++;
        if (sink.waiting() >= STEP) {
            var _ = sink.commit();
            progress.show(count);
        }
    }
}
