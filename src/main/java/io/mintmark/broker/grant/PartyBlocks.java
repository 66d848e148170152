package io.mintmark.broker.grant;

import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.MatchingBudget;

import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/**
 * The {@link BlockRule}s for a party's subject that are in force.
 *
 * @param claims the conditions of each
 * @param stop whether the party's claims meet those of one of them
 */
record PartyBlocks(List<ClaimConditions> claims, boolean stop) {

    /**
     * Matches a party against the blocks of its tenant and of all tenants. A block that has ended
     * costs nothing.
     *
     * @param databaseNow by the database's clock, which blocks end by
     * @param budget for the tenant's rules
     * @throws io.mintmark.base.verdict.Unavailable if that is more work than the budget allows
     */
    static PartyBlocks of(
            Party party,
            TenantSnapshot tenant,
            SharedSnapshot shared,
            Instant databaseNow,
            MatchingBudget budget) {
        PartyBlocks own = of(party, tenant.blocks(), databaseNow, budget);
        PartyBlocks ofAll =
                of(party, shared.blocks(), databaseNow, MatchingBudget.ofRulesOfAllTenants());
        return new PartyBlocks(
                Stream.concat(own.claims().stream(), ofAll.claims().stream()).toList(),
                own.stop() || ofAll.stop());
    }

    private static PartyBlocks of(
            Party party, GlobIndex<BlockRule> rules, Instant databaseNow, MatchingBudget budget) {
        List<ClaimConditions> claims =
                rules
                        .matching(
                                party.idp(),
                                party.subject(),
                                block -> databaseNow.isBefore(block.until()),
                                budget)
                        .stream()
                        .map(BlockRule::claims)
                        .toList();
        return new PartyBlocks(
                claims, claims.stream().anyMatch(one -> one.areMetBy(party.claims(), budget)));
    }
}
