package io.mintmark.postgres.verify;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.audit.CanonicalForm;
import io.mintmark.grant.BlockedGlob;
import io.mintmark.grant.GlobIndex;
import io.mintmark.postgres.catalogue.Documents;
import io.mintmark.postgres.verify.PlacedLine.Chain;
import io.mintmark.tenant.Glob;
import io.mintmark.tenant.IdpName;
import io.mintmark.token.MatchingBudget;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The blocks of subjects that were in force at any revision, of tenants and of the tables without
 * tenant. Most subjects were never blocked, which is known without a look at the disk.
 */
final class PastBlocks {
    /**
     * The maximum number of changes of blocks that are read, of one subject or by globs in one
     * tenant.
     */
    private static final int MOST = 10_000;

    /** Stands for a subject in the name of a chain, which has to be short. */
    private static final CanonicalForm SUBJECT = new CanonicalForm("subject");

    private static final int FILTER = 1 << 20;
    private static final int KEPT = 20_000;

    private final SortedLines lines;
    private final int group;
    private final BitSet filter = new BitSet(FILTER);
    private final Cache<Chain, Changes> kept =
            Caffeine.newBuilder()
                    .maximumWeight(KEPT)
                    .weigher((Chain _, Changes changes) -> changes.all.size() + 1)
                    .executor(Runnable::run)
                    .build();

    /** What can't be decided: a sentence without its end says why. */
    static final class Undecidable extends Exception {
        private static final long serialVersionUID = 1L;

        Undecidable(String message) {
            super(message);
        }
    }

    /**
     * The blocks that are in force between two changes.
     *
     * @param exact of one subject, which all of them name
     */
    private record InForce(List<Block> exact, GlobIndex<BlockedGlob> globs) {
        private static final InForce NONE = new InForce(List.of(), GlobIndex.of(List.of()));

        boolean has(IdpName idp, String subject, Instant at, MatchingBudget budget) {
            return exact.stream()
                            .filter(block -> block.idp().map(idp::equals).orElse(true))
                            .anyMatch(block -> at.isBefore(block.until()))
                    || globs.matching(idp, subject, budget).stream()
                            .anyMatch(block -> at.isBefore(block.until()));
        }
    }

    private record Block(Optional<IdpName> idp, Optional<Glob> glob, Instant until) {}

    /** A change of a block; without a block, it ended one. */
    private record Change(long revision, String id, Optional<Block> inForce) {}

    /** The changes of the blocks of one subject, or of those by globs in one tenant. */
    private static final class Changes {
        private final List<Change> all;
        private final boolean areGlobs;
        private int upTo;
        private InForce inForce = InForce.NONE;

        private Changes(List<Change> all, boolean areGlobs) {
            this.all = all;
            this.areGlobs = areGlobs;
        }

        /** Computed anew only where the revision is of another time between two changes. */
        private InForce at(long revision) {
            int end = 0;
            while (end < all.size() && all.get(end).revision() <= revision) {
                end++;
            }
            if (end != upTo) {
                Map<String, Block> blocks = new HashMap<>();
                for (Change change : all.subList(0, end)) {
                    change.inForce()
                            .ifPresentOrElse(
                                    block -> blocks.put(change.id(), block),
                                    () -> blocks.remove(change.id()));
                }
                inForce =
                        areGlobs
                                ? new InForce(List.of(), globs(blocks.values()))
                                : new InForce(
                                        List.copyOf(blocks.values()), GlobIndex.of(List.of()));
                upTo = end;
            }
            return inForce;
        }

        private static GlobIndex<BlockedGlob> globs(Collection<Block> blocks) {
            return GlobIndex.of(
                    blocks.stream()
                            .map(block ->
                                    new BlockedGlob(
                                            block.idp(), block.glob().orElseThrow(), block.until()))
                            .toList());
        }
    }

    PastBlocks(SortedLines lines, int group) {
        this.lines = lines;
        this.group = group;
    }

    /** The next change of a row of {@code broker.blocked_subject}. */
    void add(@Nullable String tenant, long revision, JsonNode before, JsonNode after)
            throws IOException {
        Chain then = chain(tenant, before);
        Chain now = chain(tenant, after);
        if (after.isObject()) {
            add(now, revision, after, after.path("enabled").asBoolean());
        }
        if (before.isObject() && !(after.isObject() && then.equals(now))) {
            add(then, revision, before, false);
        }
    }

    private Chain chain(@Nullable String tenant, JsonNode row) {
        return row.path("match").asText().equals("glob")
                ? globs(tenant)
                : subject(tenant, row.path("subject").asText());
    }

    private Chain globs(@Nullable String tenant) {
        return new Chain(group, Optional.of("%s/".formatted(tenant == null ? "" : tenant)));
    }

    private Chain subject(@Nullable String tenant, String subject) {
        return new Chain(
                group,
                Optional.of(
                        "%s/%s"
                                .formatted(
                                        tenant == null ? "" : tenant,
                                        SUBJECT.hash(List.of(subject)))));
    }

    private void add(Chain chain, long revision, JsonNode row, boolean inForce) throws IOException {
        ObjectNode change = JsonNodeFactory.instance.objectNode();
        change.put("id", row.path("id").asText());
        if (inForce) {
            change.set("idp", row.path("idp"));
            change.set("subject", row.path("subject"));
            change.set("until", row.path("until"));
        }
        filter.set(place(chain));
        lines.add(new PlacedLine(chain, revision, "", change.toString()));
    }

    private static int place(Chain chain) {
        return chain.hashCode() & (FILTER - 1);
    }

    /**
     * Whether a subject was blocked.
     *
     * @param tenant whose blocks are meant; null: those of all tenants
     * @param at blocks that ended before don't count
     */
    boolean has(
            @Nullable String tenant,
            long revision,
            IdpName idp,
            String subject,
            Instant at,
            MatchingBudget budget)
            throws IOException, Undecidable {
        for (Chain chain : List.of(globs(tenant), subject(tenant, subject))) {
            if (filter.get(place(chain))
                    && changes(chain).at(revision).has(idp, subject, at, budget)) {
                return true;
            }
        }
        return false;
    }

    private Changes changes(Chain chain) throws IOException, Undecidable {
        Changes known = kept.getIfPresent(chain);
        if (known == null) {
            List<PlacedLine> found = lines.chain(chain, MOST + 1);
            if (found.size() > MOST) {
                throw new Undecidable(
                        "blocks of its subject were changed more than %d times".formatted(MOST));
            }
            boolean areGlobs = chain.name().orElse("").endsWith("/");
            List<Change> changes = new ArrayList<>(found.size());
            for (PlacedLine line : found) {
                changes.add(change(line, areGlobs));
            }
            known = new Changes(changes, areGlobs);
            kept.put(chain, known);
        }
        return known;
    }

    private static Change change(PlacedLine line, boolean isGlob) throws Undecidable {
        try {
            JsonNode json = Documents.json(line.text());
            return new Change(
                    line.place().at(),
                    json.path("id").asText(),
                    json.has("subject") ? Optional.of(block(json, isGlob)) : Optional.empty());
        } catch (JsonProcessingException | IllegalArgumentException | DateTimeException e) {
            throw new Undecidable("the history has a block that can't be read");
        }
    }

    private static Block block(JsonNode json, boolean isGlob) {
        return new Block(
                Documents.text(json, "idp").map(IdpName::new),
                isGlob ? Optional.of(new Glob(json.path("subject").asText())) : Optional.empty(),
                Documents.time(json, "until").orElse(Instant.MAX));
    }
}
