package io.mintmark.auditor.command;

import io.mintmark.audit.checkpoint.Checkpoint.Named;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Cosignature;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.LogFeed;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.output.Progress;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Exports what was added since the last time. Each pass is one state of the log: changes come
 * before the mints that rest on them, and rows before the checkpoints that seal them, so what is
 * exported is at any moment a log that could have been.
 */
final class ResumedExport {
    /** The number of characters after which the state is written. */
    private static final int STEP = 8 * 1024 * 1024;

    private final LogFeed feed;
    private final StateFile file;
    private final ExportSink sink;
    private final ExportFormat format;
    private final boolean all;
    private final String origin;
    private final Map<Optional<String>, Position> events = new HashMap<>();
    private final Map<Optional<String>, Position> changes = new HashMap<>();
    private final Progress progress = new Progress();
    private Optional<Named> checkpoint;
    private long cosignature;
    private long count;
    private long written;

    /**
     * @param before how far the export had come
     */
    ResumedExport(
            LogFeed feed,
            StateFile file,
            ExportSink sink,
            ExportState before,
            ExportFormat format) {
        this.feed = feed;
        this.file = file;
        this.sink = sink;
        this.format = format;
        this.all = before.all();
        this.origin = before.origin();
        this.checkpoint = before.checkpoint();
        this.cosignature = before.cosignature();
        before.events().forEach(place -> events.put(place.chain(), place));
        before.changes().forEach(place -> changes.put(place.chain(), place));
    }

    /**
     * Exports what is there and wasn't exported yet.
     *
     * @param everything whether to look at all chains that ever were
     */
    void pass(boolean everything) {
        feed.release();
        List<Position> grownEvents = grown(feed.eventHeads(everything), events);
        List<Position> grownChanges =
                all ? grown(feed.changeHeads(everything), changes) : List.of();
        requireSame(
                grownEvents,
                everything ? List.copyOf(changes.values()) : known(grownChanges, changes));
        // before the mints that rest on them, and these before what seals both
        grownChanges.forEach(head ->
                feed.changes(
                        head,
                        after(changes, head),
                        row -> {
                            sink.write(format.change(row.json()));
                            written(changes, row.place());
                        }));
        grownEvents.forEach(head ->
                feed.events(
                        head,
                        after(events, head),
                        row -> {
                            sink.write(format.event(row.json()));
                            written(events, row.place());
                        }));
        if (all) {
            feed.checkpoints(checkpoint.map(Named::number).orElse(0L), this::add);
            feed.cosignatures(cosignature, this::add);
        }
        commit();
        progress.clear();
        // commands that alter the log, such as audit retire, must not wait for an idle export
        feed.release();
    }

    private static List<Position> grown(
            List<Position> heads, Map<Optional<String>, Position> known) {
        return heads.stream().filter(head -> head.at() > after(known, head)).toList();
    }

    private static long after(Map<Optional<String>, Position> known, Position head) {
        Position place = known.get(head.chain());
        return place == null ? 0 : place.at();
    }

    private void add(SignedCheckpoint signed) {
        sink.write(format.checkpoint(signed.line()));
        checkpoint = Optional.of(new Named(signed.number(), signed.hash()));
        counted();
    }

    private void add(Cosignature signed) {
        sink.write(format.cosignature(signed.json()));
        cosignature = signed.number();
        counted();
    }

    private void written(Map<Optional<String>, Position> known, Position place) {
        known.put(place.chain(), place);
        counted();
    }

    private void counted() {
        count++;
        if (sink.waiting() >= STEP) {
            commit();
            progress.show(count);
        }
    }

    /**
     * Writes the file before the state, so that the file contains everything that the state
     * confirms.
     */
    private void commit() {
        if (count > written) {
            written = count;
            file.write(state(sink.commit()));
        }
    }

    private ExportState state(Optional<ExportState.Output> output) {
        return new ExportState(
                origin,
                format.toString(),
                all,
                output,
                List.copyOf(events.values()),
                List.copyOf(changes.values()),
                checkpoint,
                cosignature);
    }

    /**
     * The log must go on where the export ended. A restored one has fewer changes and checkpoints,
     * or others, and rows that came since would be taken for known ones.
     */
    private void requireSame(List<Position> grownEvents, List<Position> knownChanges) {
        require(known(grownEvents, events), feed::eventHashes, true);
        if (all) {
            require(knownChanges, feed::changeHashes, false);
            checkpoint.ifPresent(this::requireCheckpoint);
        }
    }

    private static List<Position> known(
            List<Position> heads, Map<Optional<String>, Position> known) {
        return heads.stream()
                .map(Position::chain)
                .filter(known::containsKey)
                .map(known::get)
                .toList();
    }

    private void require(
            List<Position> places,
            Function<List<Position>, List<@Nullable String>> hashes,
            boolean mayBeRetired) {
        List<@Nullable String> stored = places.isEmpty() ? List.of() : hashes.apply(places);
        for (int i = 0; i < places.size(); i++) {
            String hash = stored.get(i);
            if (hash == null ? !mayBeRetired : !hash.equals(places.get(i).hash())) {
                throw another(
                        "row %d of '%s'"
                                .formatted(places.get(i).at(), places.get(i).chain().orElse("")));
            }
        }
    }

    private void requireCheckpoint(Named last) {
        if (feed.checkpointHash(last.number()).filter(last.hash()::equals).isEmpty()) {
            throw another("checkpoint " + last.number());
        }
    }

    private CommandFailed another(String what) {
        return file.unfit(
                ("ends with %s, which is not in this log: the database was restored or changed;"
                                + " keep the exported file, and start a new state file and output")
                        .formatted(what));
    }
}
