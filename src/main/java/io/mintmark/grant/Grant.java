package io.mintmark.grant;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.KeyName;
import io.mintmark.token.ClaimConditions;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * An enabled row of {@code broker.subject_grant}.
 *
 * @param subject a {@code sub} claim, or a pattern of them
 * @param validFrom inclusive
 * @param validUntil exclusive; a credential never outlives it
 */
public record Grant(
        long id,
        IdpName idp,
        SubjectPattern subject,
        KeyName key,
        ClaimConditions claims,
        Optional<Instant> validFrom,
        Optional<Instant> validUntil,
        Optional<Duration> maxDuration)
        implements SubjectRule {

    @Override
    public Optional<IdpName> from() {
        return Optional.of(idp);
    }

    boolean inForce(Instant now) {
        return validFrom.map(from -> !now.isBefore(from)).orElse(true)
                && validUntil.map(now::isBefore).orElse(true);
    }

    /** How long a credential may live that is asked for now, in whole seconds. */
    Duration atMost(Duration keyLimit, Instant now) {
        Duration byGrant = maxDuration.map(own -> least(own, keyLimit)).orElse(keyLimit);
        Duration byEnd =
                validUntil.map(end -> least(Duration.between(now, end), byGrant)).orElse(byGrant);
        return Duration.ofSeconds(byEnd.toSeconds());
    }

    private static Duration least(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }
}
