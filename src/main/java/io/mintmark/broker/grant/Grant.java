package io.mintmark.broker.grant;

import io.mintmark.base.config.Cidr;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.MatchingBudget;

import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * An enabled row of {@code broker.subject_grant}.
 *
 * @param subject a {@code sub} claim, or a pattern of them
 * @param actor who must act for the subject; empty for a grant for the subject alone
 * @param networks those that the request must come from; empty for any
 * @param validFrom inclusive
 * @param validUntil exclusive; a credential never outlives it
 * @param digest SHA-256 of what a decision uses of the row, in hexadecimal digits
 */
public record Grant(
        long id,
        IdpName idp,
        SubjectPattern subject,
        KeyName key,
        ClaimConditions claims,
        Optional<ActorRule> actor,
        List<Cidr> networks,
        Optional<Instant> validFrom,
        Optional<Instant> validUntil,
        Optional<Duration> maxDuration,
        String digest)
        implements SubjectRule {

    public Grant {
        networks = List.copyOf(networks);
    }

    @Override
    public Optional<IdpName> from() {
        return Optional.of(idp);
    }

    /**
     * Whether the grant is for requests with this actor. A grant without an actor is only for
     * requests without one.
     */
    boolean isFor(Optional<Party> acting, MatchingBudget budget) {
        if (actor.isEmpty() || acting.isEmpty()) {
            return actor.isEmpty() && acting.isEmpty();
        }
        return actor.get().means(acting.get(), budget);
    }

    /** Whether the claims of the parties meet its conditions. Both are counted, as in SQL. */
    boolean areClaimsMet(Parties parties, MatchingBudget budget) {
        boolean bySubject = claims.areMetBy(parties.subject().claims(), budget);
        boolean byActor =
                parties.actor()
                        .flatMap(party ->
                                actor.map(rule -> rule.claims().areMetBy(party.claims(), budget)))
                        .orElse(true);
        return bySubject && byActor;
    }

    /** Whether a client of this address may use it; one whose address isn't known may not. */
    boolean isOpenTo(Optional<InetAddress> address) {
        return networks.isEmpty()
                || address.map(from ->
                                networks.stream().anyMatch(network -> network.contains(from)))
                        .orElse(false);
    }

    boolean inForce(TimeBounds now) {
        return validFrom.map(now::isFrom).orElse(true)
                && validUntil.map(now::isBefore).orElse(true);
    }

    /** The maximum lifetime of a credential that is requested now, in whole seconds. */
    Duration atMost(Duration keyLimit, TimeBounds now) {
        Duration byGrant = maxDuration.map(own -> least(own, keyLimit)).orElse(keyLimit);
        Duration byEnd =
                validUntil
                        .map(end -> least(Duration.between(now.latest(), end), byGrant))
                        .orElse(byGrant);
        return Duration.ofSeconds(byEnd.toSeconds());
    }

    private static Duration least(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }
}
