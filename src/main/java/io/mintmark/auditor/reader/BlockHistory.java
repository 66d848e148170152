package io.mintmark.auditor.reader;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.auditor.reader.PastBlocks.Undecidable;
import io.mintmark.auditor.reader.PlacedLine.Chain;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.catalogue.BlockedSubjectRow;
import io.mintmark.broker.catalogue.DocumentFields;
import io.mintmark.broker.grant.BlockRule;
import io.mintmark.broker.grant.GlobIndex;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The blocks of one subject, or the tenant's {@link BlockRule rules}, that were in force at any
 * revision. Their changes stay on disk, however many there are. Only the blocks in force are in
 * memory, at the last revision that was asked for and at a few before it, to start from.
 */
final class BlockHistory {
    /** The maximum number of blocks in force at once. */
    private static final int MOST = 10_000;

    /** The number of changes between two remembered states. */
    private static final int APART = 1_000;

    private static final int REMEMBERED = 4;

    private final SortedLines lines;
    private final Chain chain;
    private final TreeMap<Long, Map<String, Optional<BlockRule>>> remembered = new TreeMap<>();
    private long from;
    private long until;
    private Map<String, Optional<BlockRule>> blocks = Map.of();
    private InForce inForce = InForce.NONE;

    /**
     * The blocks that are in force between two changes.
     *
     * @param exact of one subject, which all of them name
     */
    record InForce(List<BlockRule> exact, GlobIndex<BlockRule> rules) {
        static final InForce NONE = new InForce(List.of(), GlobIndex.of(List.of()));

        /** The end of the last block of the subject; {@link Instant#MIN} for none. */
        Instant until(IdpName idp) {
            return exact.stream()
                    .filter(block -> block.from().map(idp::equals).orElse(true))
                    .map(BlockRule::until)
                    .reduce(Instant.MIN, (one, other) -> one.isAfter(other) ? one : other);
        }
    }

    BlockHistory(SortedLines lines, Chain chain) {
        this.lines = lines;
        this.chain = chain;
    }

    /** The number of blocks in memory. */
    synchronized int size() {
        return blocks.size() + remembered.values().stream().mapToInt(Map::size).sum();
    }

    /** The blocks in force at a revision. Going on from the last one costs the changes between. */
    synchronized InForce at(long revision) throws IOException, Undecidable {
        if (revision < from || revision >= until) {
            Replay replay = start(revision);
            lines.chainFrom(chain, replay.at + 1, replay::next);
            inForce = inForce(replay.state);
            from = replay.at;
            until = replay.until;
            blocks = replay.state;
        }
        return inForce;
    }

    private Replay start(long revision) {
        var before = remembered.floorEntry(revision);
        if (from <= revision && (before == null || before.getKey() <= from)) {
            return new Replay(revision, from, blocks);
        }
        return before == null
                ? new Replay(revision, 0, Map.of())
                : new Replay(revision, before.getKey(), before.getValue());
    }

    private InForce inForce(Map<String, Optional<BlockRule>> blocks) throws Undecidable {
        if (blocks.size() > MOST) {
            throw new Undecidable(
                    "more than %d blocks were in force; a broker reads at most that many"
                            .formatted(MOST));
        }
        if (blocks.containsValue(Optional.<BlockRule>empty())) {
            throw new Undecidable("the history has a block that can't be read");
        }
        List<BlockRule> all = blocks.values().stream().flatMap(Optional::stream).toList();
        return areRules()
                ? new InForce(List.of(), GlobIndex.of(all))
                : new InForce(all, GlobIndex.of(List.of()));
    }

    private boolean areRules() {
        return chain.name().orElse("").endsWith("/");
    }

    /** Replays the changes up to a revision. */
    private final class Replay {
        private final long revision;
        private final Map<String, Optional<BlockRule>> state;
        private long at;
        private long until = Long.MAX_VALUE;
        private int count;

        private Replay(long revision, long at, Map<String, Optional<BlockRule>> state) {
            this.revision = revision;
            this.at = at;
            this.state = new HashMap<>(state);
        }

        /** Whether the next change matters. A history that blocks too many isn't read further. */
        private boolean next(PlacedLine line) {
            if (line.place().at() > revision) {
                until = line.place().at();
                return false;
            }
            if (line.place().at() > at && count >= APART) {
                remember();
            }
            at = line.place().at();
            count++;
            apply(line.text());
            return state.size() <= MOST;
        }

        private void remember() {
            count = 0;
            remembered.put(at, Map.copyOf(state));
            if (remembered.size() > REMEMBERED) {
                remembered.pollFirstEntry();
            }
        }

        private void apply(String change) {
            try {
                JsonNode json = DocumentFields.json(change);
                String id = json.path("id").asText();
                if (json.has("subject")) {
                    state.put(id, block(json));
                } else {
                    state.remove(id);
                }
            } catch (JsonProcessingException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static Optional<BlockRule> block(JsonNode json) {
        try {
            return Optional.of(BlockedSubjectRow.map(json));
        } catch (IllegalArgumentException | DateTimeException e) {
            return Optional.empty();
        }
    }
}
