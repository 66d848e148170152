package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.MatchingBudget;

/**
 * Who must act for the subject of a grant.
 *
 * @param subject the actor's {@code sub} claim, or a pattern of them
 * @param claims conditions on the actor's claims
 */
public record ActorRule(IdpName idp, SubjectPattern subject, ClaimConditions claims) {

    /** Whether the rule matches this actor, whatever the actor's claims. */
    boolean means(Party actor, MatchingBudget budget) {
        if (!idp.equals(actor.idp())) {
            return false;
        }
        if (subject instanceof SubjectPattern.Matching) {
            budget.spend(subject.steps(actor.subject()));
        }
        return subject.matches(actor.subject());
    }
}
