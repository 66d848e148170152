package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.MatchingBudget;

/**
 * An enabled row of {@code broker.access_rule}: who may ask for access to a key.
 *
 * @param subject a {@code sub} claim, or a pattern of them
 * @param claims conditions on the subject's claims
 * @param breakGlass whether it grants at once, which no actor may ask for
 * @param consent whether the subject alone decides, which only an actor may ask for
 */
public record AccessRule(
        IdpName idp,
        SubjectPattern subject,
        KeyName key,
        ClaimConditions claims,
        boolean breakGlass,
        boolean consent) {

    /**
     * Whether the subject may ask by it, through its actor if there is one.
     *
     * @throws io.mintmark.base.verdict.Unavailable if that is more work than the budget allows
     */
    boolean isFor(Parties parties, MatchingBudget budget) {
        Party party = parties.subject();
        boolean hasActor = parties.actor().isPresent();
        if (!idp.equals(party.idp()) || (breakGlass && hasActor) || (consent && !hasActor)) {
            return false;
        }
        budget.spend(subject.steps(party.subject()));
        return subject.matches(party.subject()) && claims.areMetBy(party.claims(), budget);
    }
}
