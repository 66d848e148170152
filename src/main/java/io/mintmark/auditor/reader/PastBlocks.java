package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.auditor.reader.PlacedLine.Chain;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.grant.BlockRule;
import io.mintmark.broker.grant.GlobIndex;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.Instant;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * The blocks of subjects that were in force at any revision, of tenants and of the tables without
 * tenant. Most subjects were never blocked, which is known without a look at the disk.
 */
final class PastBlocks {
    /** A digest that replaces a subject in the name of a chain, which must be short. */
    private static final CanonicalForm SUBJECT = new CanonicalForm("subject");

    private static final int FILTER = 1 << 20;

    /** Blocks that are kept in memory. */
    private static final int KEPT = 100_000;

    private final SortedLines lines;
    private final int group;
    private final BitSet filter = new BitSet(FILTER);
    private final Cache<Chain, BlockHistory> kept =
            Caffeine.newBuilder()
                    .maximumWeight(KEPT)
                    .weigher((Chain _, BlockHistory history) -> history.size() + 1)
                    .executor(Runnable::run)
                    .build();

    /** Blocks of that time can't be decided on; the message, without a period, says why. */
    static final class Undecidable extends Exception {
        private static final long serialVersionUID = 1L;

        Undecidable(String message) {
            super(message);
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
        return row.path("match").asText().equals("glob") || !row.path("claims").isEmpty()
                ? rules(tenant)
                : subject(tenant, row.path("subject").asText());
    }

    private Chain rules(@Nullable String tenant) {
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
            for (String column : List.of("idp", "match", "subject", "claims", "until")) {
                change.set(column, row.path(column));
            }
        }
        filter.set(place(chain));
        lines.add(new PlacedLine(chain, revision, "", change.toString()));
    }

    private static int place(Chain chain) {
        return chain.hashCode() & (FILTER - 1);
    }

    /**
     * The blocks by rules that were in force.
     *
     * @param tenant whose blocks are meant; null: those of all tenants
     */
    GlobIndex<BlockRule> rules(@Nullable String tenant, long revision)
            throws IOException, Undecidable {
        return inForce(rules(tenant), revision).rules();
    }

    /**
     * The end of the last block of every token of exactly this subject; {@link Instant#MIN} for
     * none.
     *
     * @param tenant whose blocks are meant; null: those of all tenants
     */
    Instant until(@Nullable String tenant, long revision, IdpName idp, String subject)
            throws IOException, Undecidable {
        return inForce(subject(tenant, subject), revision).until(idp);
    }

    private BlockHistory.InForce inForce(Chain chain, long revision)
            throws IOException, Undecidable {
        if (!filter.get(place(chain))) {
            return BlockHistory.InForce.NONE;
        }
        BlockHistory history = kept.get(chain, it -> new BlockHistory(lines, it));
        BlockHistory.InForce inForce = history.at(revision);
        kept.put(chain, history);
        return inForce;
    }
}
