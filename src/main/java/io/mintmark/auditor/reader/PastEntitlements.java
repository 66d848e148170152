package io.mintmark.auditor.reader;

import io.mintmark.auditor.reader.PastBlocks.Undecidable;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;
import io.mintmark.broker.grant.Entitlements;
import io.mintmark.broker.grant.GlobIndex;
import io.mintmark.broker.grant.Grant;
import io.mintmark.broker.grant.Parties;
import io.mintmark.broker.grant.Party;
import io.mintmark.broker.grant.SharedSnapshot;
import io.mintmark.broker.grant.SubjectGrants;
import io.mintmark.broker.grant.SubjectPattern;
import io.mintmark.broker.grant.TenantSnapshot;
import io.mintmark.broker.token.MatchingBudget;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * What a tenant had at a revision, as far as one mint depends on it: the blocks, and the grant that
 * its row names. {@link Entitlements} decide on it as they did in the broker.
 */
final class PastEntitlements {
    /**
     * The maximum difference between a broker's clock, which decides on mints, and the database's,
     * which decides on blocks.
     */
    private static final Duration SKEW = Duration.ofMinutes(1);

    private static final UUID NO_ID = new UUID(0, 0);

    private final PastBlocks blocks;

    /** The revisions of a tenant, and of the tables without tenant. */
    record Revisions(TenantName tenant, long own, long shared) {
        private TenantState state() {
            return new TenantState(new StateId(own, ""), new StateId(shared, ""));
        }
    }

    PastEntitlements(PastBlocks blocks) {
        this.blocks = blocks;
    }

    /**
     * What the parties had under a grant.
     *
     * @param at by the broker's clock
     */
    Entitlements of(Revisions then, Grant grant, Parties parties, Instant at)
            throws IOException, Undecidable {
        Party subject = parties.subject();
        boolean exact =
                grant.subject() instanceof SubjectPattern.Exact(String name)
                        && name.equals(subject.subject())
                        && grant.idp().equals(subject.idp());
        boolean glob = grant.subject() instanceof SubjectPattern.Matching;
        return new Entitlements(
                tenant(then, glob ? List.of(grant) : List.of()),
                new SharedSnapshot(
                        then.state().shared(), at, Map.of(), blocks.rules(null, then.shared())),
                new SubjectGrants(
                        then.state(),
                        exact ? List.of(grant) : List.of(),
                        blockedUntil(then, subject),
                        0,
                        false),
                parties.actor().isPresent()
                        ? blockedUntil(then, parties.actor().get())
                        : Instant.MIN,
                parties,
                at.plus(SKEW),
                new MatchingBudget(then.tenant()));
    }

    private TenantSnapshot tenant(Revisions then, List<Grant> globs)
            throws IOException, Undecidable {
        return new TenantSnapshot(
                then.tenant(),
                then.state().own(),
                NO_ID,
                1,
                OptionalInt.empty(),
                TenantSnapshot.Place.HERE,
                Map.of(),
                Map.of(),
                GlobIndex.of(globs),
                blocks.rules(then.tenant().value(), then.own()),
                Map.of(),
                0,
                false);
    }

    private Instant blockedUntil(Revisions then, Party party) throws IOException, Undecidable {
        Instant own = blocks.until(then.tenant().value(), then.own(), party.idp(), party.subject());
        Instant shared = blocks.until(null, then.shared(), party.idp(), party.subject());
        return own.isAfter(shared) ? own : shared;
    }
}
